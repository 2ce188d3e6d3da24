"""A run's cube: counts, rates and measures by every label of its tasks. Always recomputed completely."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models import Rollup
from backend.db.models.enums import Dimension
from backend.db.repositories.results import measure_rollups as measure_repository
from backend.db.repositories.results import rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model import omnibench_labels
from backend.domain.model.label_filter import cut_labels
from backend.domain.model.task import UNLABELLED
from backend.domain.statistics.intervals import Interval
from backend.services.results import measure_rollups
from backend.services.runs.summary import (
    EpisodeCounts,
    RunSummary,
    RunTotals,
    added,
    describe,
    mean_interval,
    success_interval,
)

WHOLE = frozenset({Dimension.DOMAIN.value, Dimension.APP.value})
"""Labels that the cube has however many values they have."""


@dataclass(frozen=True)
class RollupInputs:
    """Inputs of a run's cube: tasks with totals, and measures."""

    totals: Sequence[TaskTotals]
    sums: measure_rollups.Sums


@dataclass(frozen=True)
class RollupRows:
    """Rows of a run's cube and of its measures, without the run."""

    cells: Sequence[Mapping[str, Any]]
    means: Sequence[Mapping[str, Any]]


def gather(session: Session, run_id: UUID) -> RollupInputs:
    """Reads the inputs from the current episodes."""
    return RollupInputs(repository.task_totals(session, run_id), measure_rollups.task_sums(session, run_id))


def compute(gathered: RollupInputs) -> RollupRows:
    """Computes the cube, without a database: a run of 36,000 tasks takes seconds."""
    cells = grouped(gathered.totals)
    rows = [{"dimension": str(name), "key": key, **cell(tasks)} for (name, key), tasks in sorted(cells.items())]
    return RollupRows(rows, list(measure_rollups.rows(cells, gathered.sums)))


def store(session: Session, run_id: UUID, computed: RollupRows) -> None:
    """Replaces the run's cube."""
    repository.replace(session, run_id, [{"run_id": run_id, **row} for row in computed.cells])
    measure_repository.replace(session, run_id, [{"run_id": run_id, **row} for row in computed.means])


def grouped(totals: Iterable[TaskTotals]) -> dict[tuple[str, str], list[TaskTotals]]:
    """Every cell of the cube with its tasks. A task with two applications is in both cells."""
    cells: dict[tuple[str, str], list[TaskTotals]] = {}
    tasks = list(totals)
    names = set(cut_labels(task.labels for task in tasks)) | WHOLE
    for task in tasks:
        for cell_key in _cells_of(task, names):
            cells.setdefault(cell_key, []).append(task)
    return cells


def _cells_of(task: TaskTotals, names: Container[str]) -> list[tuple[str, str]]:
    cells = [(name, value) for name, values in task.labels.items() if name in names for value in values]
    levels = omnibench_labels.complexity(task.extra).items()
    return [
        (Dimension.ALL, ""),
        (Dimension.DOMAIN_DIFFICULTY, f"{task.domain}/{task.difficulty or UNLABELLED}"),
        *((Dimension.COMPLEXITY, f"{name}/{level}") for name, level in levels),
        *cells,
    ]


def cell(tasks: list[TaskTotals]) -> Mapping[str, Any]:
    """Columns of one cell."""
    totals = added(tasks)
    success, method = success_interval(tasks)
    mean = mean_interval(tasks)
    return {
        "tasks": totals.tasks,
        "scored_tasks": totals.scored_tasks,
        "episodes": totals.episodes,
        "scored": totals.counts.scored,
        "solved": totals.solved,
        "score_sum": totals.score_sum,
        "score_sq_sum": totals.score_sq_sum,
        "lost": dict(totals.lost),
        "human_assisted": totals.counts.human_assisted,
        "handed_in": totals.counts.handed_in,
        "quarantined": totals.counts.quarantined,
        "cancelled": totals.counts.cancelled,
        "not_runnable": totals.counts.not_runnable,
        "waiting": totals.counts.waiting,
        "running": totals.counts.running,
        "steps_sum": totals.steps,
        "success_method": method,
        "success_low": None if success is None else success.low,
        "success_high": None if success is None else success.high,
        "mean_low": None if mean is None else mean.low,
        "mean_high": None if mean is None else mean.high,
    }


def summary_of(row: Rollup | Row[Any] | SimpleNamespace) -> RunSummary:
    """A stored cell as a summary."""
    counts = EpisodeCounts(
        scored=row.scored,
        lost=sum(row.lost.values()),
        cancelled=row.cancelled,
        not_runnable=row.not_runnable,
        waiting=row.waiting,
        running=row.running,
        human_assisted=row.human_assisted,
        handed_in=row.handed_in,
        quarantined=row.quarantined,
    )
    totals = RunTotals(
        counts=counts,
        lost=row.lost,
        tasks=row.tasks,
        scored_tasks=row.scored_tasks,
        solved=row.solved,
        score_sum=row.score_sum,
        score_sq_sum=row.score_sq_sum,
        steps=row.steps_sum,
    )
    success, mean = _interval(row.success_low, row.success_high), _interval(row.mean_low, row.mean_high)
    return describe(totals, success, mean, row.success_method)


def _interval(low: float | None, high: float | None) -> Interval | None:
    return None if low is None or high is None else Interval(low, high)
