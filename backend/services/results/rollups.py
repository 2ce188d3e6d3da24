"""A run's cube: counts, rates and measures by labels and by pairs of them. Always recomputed completely."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models import Rollup
from backend.db.models.enums import Dimension
from backend.db.repositories.results import label_pairs as pair_repository
from backend.db.repositories.results import measure_rollups as measure_repository
from backend.db.repositories.results import rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model import omnibench_labels
from backend.domain.model.label_filter import cut_labels
from backend.domain.model.label_pair import LabelPair
from backend.domain.model.task import UNLABELLED
from backend.domain.statistics.intervals import Interval
from backend.services.results import measure_rollups
from backend.services.runs.summary import EpisodeCounts, Positions, RunSummary, RunTotals, TaskColumns, describe
from backend.services.runs.task_totals import task_totals

WHOLE = frozenset({Dimension.DOMAIN.value, Dimension.APP.value})
"""Labels that the cube has however many values they have."""


@dataclass(frozen=True)
class RollupInputs:
    """Inputs of a run's cube: tasks with totals, measures, and pairs of labels to cut by."""

    totals: Sequence[TaskTotals]
    sums: measure_rollups.Sums
    pairs: Sequence[LabelPair] = ()

    @cached_property
    def kinds(self) -> measure_rollups.TaskKinds:
        """Kinds of the tasks, which decide their measures."""
        return measure_rollups.TaskKinds.from_totals(self.totals)

    @cached_property
    def columns(self) -> TaskColumns:
        """Totals of the tasks by column."""
        return TaskColumns(self.totals)

    @cached_property
    def rates(self) -> dict[str, Any]:
        """Rates of all tasks, each of which counts once. See `TaskColumns.rates`."""
        return self.columns.rates(self.columns.everything)


@dataclass(frozen=True)
class RollupRows:
    """Rows of a run's cube and of its measures, without the run."""

    cells: Sequence[Mapping[str, Any]]
    means: Sequence[Mapping[str, Any]]


def gather(session: Session, run_id: UUID, sums: Callable[[], measure_rollups.Sums] | None = None) -> RollupInputs:
    """Reads the inputs from the current episodes; `sums`: returns those of measures, if they are read elsewhere."""
    return RollupInputs(
        task_totals(session, run_id),
        sums() if sums else measure_rollups.task_sums(session, run_id),
        pair_repository.of_run(session, run_id),
    )


def compute(gathered: RollupInputs, cells: measure_rollups.Cells | None = None, *, by_task: bool = False) -> RollupRows:
    """Computes the cube, without a database.

    Args:
        gathered: its inputs.
        cells: the cells to compute; default: all.
        by_task: whether a task counts once, however many passes it has. Then cells have `rates`, which are not columns.
    """
    columns = gathered.columns
    cells = group_tasks(gathered.totals, gathered.pairs) if cells is None else cells
    rows = []
    for (name, key), positions in sorted(cells.items()):
        rates = {"rates": columns.rates(positions)} if by_task else {}
        rows.append({"dimension": name, "key": key, **_cell(columns, positions), **rates})
    means = measure_rollups.rows(cells, gathered.totals, gathered.kinds, gathered.sums, by_task=by_task)
    return RollupRows(rows, means)


def whole(gathered: RollupInputs) -> measure_rollups.Cells:
    """The cell of all tasks; none without tasks."""
    return {(Dimension.ALL.value, ""): np.arange(len(gathered.totals))} if gathered.totals else {}


def store(session: Session, run_id: UUID, computed: RollupRows) -> None:
    """Replaces the run's cube."""
    repository.replace(session, run_id, [{"run_id": run_id, **row} for row in computed.cells])
    measure_repository.replace(session, run_id, [{"run_id": run_id, **row} for row in computed.means])


def group_tasks(tasks: Sequence[TaskTotals], pairs: Sequence[LabelPair] = ()) -> measure_rollups.Cells:
    """Every cell of the cube with its tasks. A task with two applications is in both cells."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for position, task in enumerate(tasks):
        # Tasks with equal labels mostly share them as one object, so few of 25,000 are looked at.
        alike.setdefault((task.domain, task.difficulty, id(task.labels), id(task.extra)), []).append(position)
    examples = [(tasks[positions[0]], np.array(positions)) for positions in alike.values()]
    names = set(cut_labels(task.labels for task, _ in examples)) | WHOLE
    pairs = [pair for pair in pairs if names.issuperset(pair)]
    cells: dict[tuple[str, str], list[Positions]] = {}
    for task, own in examples:
        for cell_key in _cells_of(task, names, pairs):
            cells.setdefault(cell_key, []).append(own)
    return {cell_key: np.sort(np.concatenate(parts)) for cell_key, parts in cells.items()}


def _cells_of(task: TaskTotals, names: Container[str], pairs: Sequence[LabelPair]) -> list[tuple[str, str]]:
    cells = [(name, value) for name, values in task.labels.items() if name in names for value in values]
    levels = omnibench_labels.complexity(task.extra).items()
    return [
        (Dimension.ALL.value, ""),
        (Dimension.DOMAIN_DIFFICULTY.value, f"{task.domain}/{task.difficulty or UNLABELLED}"),
        *((Dimension.COMPLEXITY.value, f"{name}/{level}") for name, level in levels),
        *cells,
        *((pair.dimension, key) for pair in pairs for key in pair.cells(task.labels)),
    ]


def _cell(columns: TaskColumns, positions: Positions) -> Mapping[str, Any]:
    """Columns of one cell."""
    totals = columns.totals(positions)
    success, method = columns.success(positions)
    mean = columns.mean(positions)
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
