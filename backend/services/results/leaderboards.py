"""Leaderboards, from stored roll-ups only."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Benchmark, PublishedResult, Run, TaskSet
from backend.db.models.enums import FLOORS, Dimension
from backend.db.repositories.people import human_agent as people_repository
from backend.db.repositories.results import leaderboards as repository
from backend.db.repositories.results import rollups as rollup_repository
from backend.domain.errors import NotFound
from backend.domain.model.measures import in_order, primary
from backend.domain.model.score import SCORE
from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.ranks import Standing, standings
from backend.services.benchmarks.benchmarks import get_benchmark, list_task_sets
from backend.services.people import human_baselines
from backend.services.people.human_baselines import DomainRow, Means
from backend.services.read_model import short
from backend.services.results import measure_rollups, rollups
from backend.services.results.measure_rollups import MeasureMean
from backend.services.runs.summary import EpisodeCounts, RunSummary, RunTotals, describe

SHOWN = (Dimension.DOMAIN, Dimension.DIFFICULTY, Dimension.LEVEL, Dimension.CAPABILITY, Dimension.COMPLEXITY)


@dataclass(frozen=True)
class BoardRow:
    """One condition: an agent configuration with everything else that determines a result.

    Attributes:
        run: representative run: the one that covers most tasks, then the newest, regardless of results.
        others: its other runs on this task set, newest first.
        reference: `floor`, `privileged` (it sees the task), `human` or empty. References have no rank.
        missing_tasks: tasks of the task set without a scored episode.
        by: summaries by dimension, then by key.
        measures: means of measures by dimension, then by key; over all tasks under the key "" of `all`.
        primary: mean of the measure by which the board ranks; None without a value.
        standing: by `primary`, among agents that have it.
        people: for a human row: means of steps, time and rating.
        efficiency: steps of solved episodes over a person's median steps, as (mean ratio, episodes).
    """

    run: Run
    agent: AgentConfiguration
    others: Sequence[UUID]
    reference: str
    summary: RunSummary
    missing_tasks: int
    by: Mapping[str, Mapping[str, RunSummary]]
    measures: measure_rollups.Cube = field(default_factory=dict)
    primary: MeasureMean | None = None
    standing: Standing | None = None
    people: Means | None = None
    efficiency: tuple[float, int] | None = None

    @property
    def means(self) -> measure_rollups.Means:
        """Means of measures over all tasks."""
        return self.measures.get(Dimension.ALL, {}).get("", {})


@dataclass(frozen=True)
class BenchmarkBoard:
    """A benchmark's leaderboard for one version of its tasks.

    Attributes:
        primary: name of the measure that ranks: that of the tasks' scoring protocol, or `score`.
        as_of: when the newest of its roll-ups was computed; None before the first.
        stale: an episode has changed since its roll-up was computed.
    """

    benchmark: Benchmark
    task_set: TaskSet
    tasks: int
    rows: Sequence[BoardRow]
    reported: Sequence[PublishedResult]
    people: Sequence[DomainRow] = ()
    primary: str = SCORE
    as_of: datetime | None = None
    stale: bool = False

    @property
    def measures(self) -> list[str]:
        """All measures of any row, in column order."""
        return in_order([name for row in self.rows for name in row.means])


def leaderboard(
    session: Session, benchmark: str, *, version: int | None = None, dimensions: Sequence[str] = SHOWN
) -> BenchmarkBoard:
    """The board of a benchmark.

    Args:
        session: the transaction.
        benchmark: its name.
        version: of the task set; default: the newest.
        dimensions: dimensions of the breakdown.

    Returns:
        Ranked rows by the primary measure, best first, then references, then those without a value.
    """
    benchmark_row, task_set = get_benchmark(session, benchmark), _task_set(session, benchmark, version)
    as_of, stale = repository.freshness(session, task_set.id)
    candidates = repository.conditions(session, task_set.id)
    tasks = repository.number_of_tasks(session, task_set.id)
    runs, all_dimensions = [condition.run.id for condition in candidates], {Dimension.ALL, *dimensions}
    cubes, means = _cubes(session, runs, all_dimensions), measure_rollups.of_runs(session, runs, all_dimensions)
    measure = primary(task_set.protocols)
    rows = [_row(each, cubes.get(each.run.id, {}), means.get(each.run.id, {}), tasks) for each in candidates]
    rows = [replace(row, primary=_mean_of(row, measure)) for row in rows]
    done = human_baselines.trials(session, task_set.id)
    rows = _with_people(session, rows, human_baselines.by_run(done))
    reported = repository.reported(session, benchmark_row.id)
    return BenchmarkBoard(
        benchmark_row,
        task_set,
        tasks,
        _ranked(rows),
        reported,
        human_baselines.by_domain(done),
        primary=measure,
        as_of=as_of,
        stale=stale,
    )


def _with_people(session: Session, rows: Sequence[BoardRow], people: Mapping[UUID, Means]) -> list[BoardRow]:
    """Adds people's results to human rows, and relative steps to the others."""
    ratios = people_repository.efficiency(session, [row.run.id for row in rows])
    return [replace(row, people=people.get(row.run.id), efficiency=ratios.get(row.run.id)) for row in rows]


def _task_set(session: Session, benchmark: str, version: int | None) -> TaskSet:
    versions = list_task_sets(session, benchmark)
    chosen = [row for row in versions if version is None or row.version == version]
    if not chosen:
        known = ", ".join(str(row.version) for row in versions) or "none"
        raise NotFound(
            f"the benchmark {benchmark!r} has no version {version}",
            code="version_not_found",
            hint=f"Versions: {known}.",
        )
    return chosen[0]


Cube = Mapping[str, Mapping[str, RunSummary]]


def _cubes(
    session: Session, run_ids: Sequence[UUID], dimensions: Collection[str]
) -> dict[UUID, dict[str, dict[str, RunSummary]]]:
    cubes: dict[UUID, dict[str, dict[str, RunSummary]]] = {}
    for row in rollup_repository.of_runs(session, run_ids, dimensions):
        cubes.setdefault(row.run_id, {}).setdefault(row.dimension, {})[row.key] = rollups.summary_of(row)
    return cubes


def _row(condition: repository.RunCondition, cube: Cube, means: measure_rollups.Cube, tasks: int) -> BoardRow:
    agent = condition.agent
    reference = (
        "human" if agent.human else "privileged" if agent.privileged else "floor" if agent.name in FLOORS else ""
    )
    whole = cube.get(Dimension.ALL, {}).get("") or describe(_NOTHING, None, None, "")
    missing = tasks - whole.scored_tasks
    return BoardRow(condition.run, agent, condition.others, reference, whole, missing, cube, means)


_NOTHING = RunTotals(
    counts=EpisodeCounts(), lost={}, tasks=0, scored_tasks=0, solved=0, score_sum=0.0, score_sq_sum=0.0, steps=0
)


def _mean_of(row: BoardRow, measure: str) -> MeasureMean | None:
    """The mean of a measure over a row's tasks; the score is one."""
    summary = row.summary
    if measure != SCORE or summary.mean_score is None:
        return row.means.get(measure)
    return MeasureMean(
        mean=summary.mean_score,
        interval=summary.mean_interval or Interval(0, 1),
        n=summary.counts.scored,
        tasks=summary.scored_tasks,
        undefined_tasks=0,
    )


def _ranked(rows: Sequence[BoardRow]) -> list[BoardRow]:
    able = [(row, row.primary) for row in rows if not row.reference and row.primary is not None]
    places = standings([(value.mean, value.interval) for _, value in able])
    placed = [replace(row, standing=place) for (row, _), place in zip(able, places, strict=True)]
    rest = [row for row in rows if row.reference or row.primary is None]
    return sorted(placed + rest, key=_order)


def _order(row: BoardRow) -> tuple[bool, bool, float, str]:
    value = row.primary
    return value is None, row.standing is None, -(value.mean if value else 0.0), row.run.id.hex


def label(row: BoardRow) -> str:
    """An agent with its parameters on one line."""
    params = ", ".join(
        name if value is True else f"{name}={_to_text(value)}"
        for name, value in row.agent.params.items()
        if value not in (None, "") and value is not False
    )
    return short(f"{row.agent.name} ({params})" if params else row.agent.name, 60)


def _to_text(value: Any) -> str:
    return short(str(value), 24)


def board_version(session: Session, benchmark: str, version: int | None = None) -> TaskSet:
    """The version of the tasks whose board is shown. Raises NotFound."""
    return _task_set(session, benchmark, version)
