"""Progress within episodes: parts of one episode, and comparison of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.runs import progress_view as repository
from backend.domain.errors import NotFound
from backend.domain.model.measures import in_order
from backend.domain.model.score import PartResult
from backend.domain.statistics.progress import Bin, EpisodeProgress, Point, bins, curve
from backend.services.results import measure_rollups
from backend.services.results.measure_rollups import Means
from backend.services.runs.runs import get_run

BESIDE = 30
MOST = 6
"""Maximum runs in one chart."""


@dataclass(frozen=True)
class PartView:
    """One part of an episode; `judges` are its checks."""

    result: PartResult
    judges: Sequence[str]


@dataclass(frozen=True)
class EpisodeProcess:
    """Parts of an episode in the task's order; `last` is the last drawn step."""

    parts: Sequence[PartView]
    last: int

    @property
    def reached(self) -> int:
        """Number of reached parts."""
        return sum(part.result.reached for part in self.parts)


def episode_process(session: Session, attempt_id: UUID, steps: int) -> EpisodeProcess | None:
    """Parts of an attempt; None if its verdict has none."""
    evaluation = repository.current_evaluation(session, attempt_id)
    if evaluation is None or not evaluation.parts:
        return None
    judges: dict[str, list[str]] = {}
    for metric in evaluation.metrics:
        judges.setdefault(str(metric.get("part", "")), []).append(str(metric.get("func", "")))
    results = [PartResult.model_validate(part) for part in evaluation.parts]
    parts = [PartView(result, list(dict.fromkeys(judges.get(result.name, ())))) for result in results]
    return EpisodeProcess(parts, max([steps - 1, 1, *(result.step or 0 for result in results)]))


@dataclass(frozen=True)
class RunProcess:
    """One run: curve, bins, measures."""

    run_id: UUID
    label: str
    episodes: int
    parts: int
    curve: Sequence[Point]
    bins: Sequence[Bin]
    means: Means

    def at(self, step: int) -> Point | None:
        """Value of the curve at a step; constant after its last one."""
        return self.curve[min(step, len(self.curve) - 1)] if self.curve else None


@dataclass(frozen=True)
class Processes:
    """Runs compared, the requested one first; `others` can be added, as (id, label)."""

    runs: Sequence[RunProcess]
    others: Sequence[tuple[UUID, str]]

    @property
    def steps(self) -> list[int]:
        """Steps for a table: dense at first, then sparser, always including the last."""
        last = max((len(run.curve) - 1 for run in self.runs), default=0)
        wide = max(1, -(-last // 15))
        return [*range(0, last, wide), last]


def processes(session: Session, run_id: UUID, beside: Sequence[UUID]) -> Processes:
    """A run with others of the same task set. Raises NotFound."""
    run = get_run(session, run_id)
    run_ids = list(dict.fromkeys([run_id, *beside]))[:MOST]
    named = {
        row.id: (row, f"{name}, {row.name or str(row.id)[-6:]}")
        for row, name in repository.configuration_names(session, run_ids)
    }
    for key in run_ids:
        if key not in named or named[key][0].task_set_id != run.task_set_id:
            raise NotFound(
                f"there is no run {key} of this task set",
                code="run_not_comparable",
                hint="Compare runs of one version of a benchmark.",
            )
    means = measures(session, run_ids)
    others = [
        (row.id, f"{name}, {row.name or str(row.id)[-6:]}") for row, name in repository.beside(session, run, BESIDE)
    ]
    return Processes([_run(session, key, named[key][1], means.get(key, {})) for key in run_ids], others)


def measures(session: Session, run_ids: Sequence[UUID]) -> dict[UUID, Means]:
    """Means of measures of whole runs, from their last roll-up."""
    cubes = measure_rollups.of_runs(session, run_ids, [Dimension.ALL])
    return {key: cube[Dimension.ALL][""] for key, cube in cubes.items()}


def _run(session: Session, run_id: UUID, label: str, means: Means) -> RunProcess:
    episodes = [
        EpisodeProgress(row.listed, row.steps or (), row.score) for row in repository.progress_rows(session, run_id)
    ]
    return RunProcess(
        run_id,
        label,
        len(episodes),
        sum(episode.listed for episode in episodes),
        curve(episodes),
        bins(episodes),
        means,
    )


PARTS_HEAD = ("task", "repeat", "episode", "part", "kind", "app", "value", "step", "turn_came", "progress", "reasons")


def part_rows(session: Session, run_id: UUID) -> Iterator[list[Any]]:
    """All parts of all counted episodes of a run, as flat rows. Raises NotFound."""
    get_run(session, run_id)
    for row in repository.parts(session, run_id):
        part: Mapping[str, Any] = row.part
        reasons = "; ".join(map(str, part.get("reasons") or ()))
        values = [part.get(name) for name in ("name", "kind", "app", "value", "step", "opened", "progress")]
        yield [row.task, row.repeat_index, str(row.episode), *values, reasons]


CURVE_HEAD = ("run", "label", "step", "parts_reached", "parts", "share")


def curve_rows(processes: Processes) -> Iterator[list[Any]]:
    """Curves as flat rows."""
    for run in processes.runs:
        for point in run.curve:
            yield [str(run.run_id), run.label, point.step, point.reached, run.parts, point.share]


BINS_HEAD = ("run", "label", "parts_reached", "episodes", "mean_score")


def bin_rows(processes: Processes) -> Iterator[list[Any]]:
    """Episodes by share of reached parts, as flat rows."""
    for run in processes.runs:
        for progress_bin in run.bins:
            yield [str(run.run_id), run.label, progress_bin.label, progress_bin.episodes, progress_bin.score]


MEASURES_HEAD = ("run", "label", "measure", "mean", "low", "high", "n", "tasks", "undefined_tasks")


def measure_rows(processes: Processes) -> Iterator[list[Any]]:
    """Means of the measures as flat rows."""
    for run in processes.runs:
        for name in in_order(list(run.means)):
            mean = run.means[name]
            counts = (mean.n, mean.tasks, mean.undefined_tasks)
            yield [str(run.run_id), run.label, name, mean.mean, *mean.interval, *counts]
