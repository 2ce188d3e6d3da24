"""Means of measures in every cell of a run's cube. Always recomputed completely, with the cube."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from sqlalchemy import Row
from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.results import measure_rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model import omnibench_labels
from backend.domain.model.measures import PARTS, PHASE, info
from backend.domain.statistics.intervals import Interval, TaskCluster, cluster_mean_of_columns, mean_of_means
from backend.services.read_model import ReadModel
from backend.services.runs.summary import Positions

OF_SETS = "CR"
"""OmniBench's measure that is, over all tasks, the mean of the means of its sets. Protocols reference, section 6."""
Cells = Mapping[tuple[str, str], Positions]
"""Positions of each cell's tasks, by dimension and key."""


class TaskSums(NamedTuple):
    """Values of one measure: ids of the tasks that have some, sorted, as text; how many each has, and their sum."""

    tasks: NDArray[np.str_]
    numbers: NDArray[np.float64]
    totals: NDArray[np.float64]


Sums = Mapping[str, TaskSums]
"""By measure."""


class MeasureMean(ReadModel):
    """A measure's mean."""

    mean: float = Field(examples=[0.42])
    interval: Interval
    n: int = Field(description="Values that it is the mean of; of the pooled measure `parts`, the parts.")
    tasks: int = Field(description="Tasks that have a value.")
    undefined_tasks: int = Field(description="Scored tasks without a value where they could have one.")


Means = Mapping[str, MeasureMean]
"""Means of a cell by measure."""
Cube = Mapping[str, Mapping[str, Means]]
"""Means by dimension, then by key."""


def of_runs(session: Session, run_ids: Sequence[UUID], dimensions: Collection[str]) -> dict[UUID, Cube]:
    """Stored means of several runs."""
    by_run: dict[UUID, list[Any]] = {}
    for row in repository.of_runs(session, run_ids, dimensions):
        by_run.setdefault(row.run_id, []).append(row)
    return {run_id: cube_of(rows) for run_id, rows in by_run.items()}


def cube_of(rows: Iterable[Any]) -> Cube:
    """Rows with the columns of `MeasureRollup`, by dimension, then by key."""
    cube: dict[str, dict[str, dict[str, MeasureMean]]] = {}
    for row in rows:
        cube.setdefault(row.dimension, {}).setdefault(row.key, {})[row.measure] = _stored_mean(row)
    return dict(cube)


def _stored_mean(row: Any) -> MeasureMean:
    return _mean(row.total, row.n, (row.low, row.high), row.tasks, row.undefined_tasks)


def _mean(total: float, n: int, ends: tuple[float, float], tasks: int, undefined: int) -> MeasureMean:
    return MeasureMean(mean=total / n, interval=Interval(*ends), n=n, tasks=tasks, undefined_tasks=undefined)


def task_sums(session: Session, run_id: UUID) -> Sums:
    """Sums per task of a run, from its current evaluations."""
    return {row.measure: _task_sums(row) for row in repository.task_sums(session, run_id)}


def _task_sums(row: Row[Any]) -> TaskSums:
    tasks = np.array(row.tasks.split(" "))
    order = np.argsort(tasks)
    return TaskSums(
        tasks[order],
        np.array(row.numbers.split(" "), dtype=float)[order],
        np.array(row.totals.split(" "), dtype=float)[order],
    )


def pooled_sums(runs: Sequence[Sums]) -> Sums:
    """Sums over several runs."""
    if len(runs) == 1:
        return runs[0]
    pooled = {}
    for measure in sorted({name for run in runs for name in run}):
        run_sums = [run[measure] for run in runs if measure in run]
        tasks, places = np.unique(np.concatenate([sums.tasks for sums in run_sums]), return_inverse=True)
        numbers, totals = np.zeros(len(tasks)), np.zeros(len(tasks))
        np.add.at(numbers, places, np.concatenate([sums.numbers for sums in run_sums]))
        np.add.at(totals, places, np.concatenate([sums.totals for sums in run_sums]))
        pooled[measure] = TaskSums(tasks, numbers, totals)
    return pooled


class PooledMean(NamedTuple):
    """A measure's mean over tasks of the mean over their values.

    Attributes:
        mean, interval: over tasks with a value.
        lower: the same with every lost episode as 0, over these and the lost tasks that could have had a value.
    """

    mean: float
    interval: Interval
    lower: float


def over_tasks(measure: str, tasks: Sequence[TaskTotals], kinds: "TaskKinds", sums: Sums) -> PooledMean | None:
    """The mean of a measure in which each task counts once, however many passes it has; None without a value.

    Args:
        measure: its name.
        tasks: all tasks, with the losses that no other pass made up for.
        kinds: of these tasks.
        sums: values of their measures.
    """
    if measure not in sums:
        return None
    column = _MeasureColumn.from_totals(measure, tasks, kinds, sums[measure])
    with_value = column.counts > 0
    if not with_value.any():
        return None
    numbers = column.counts + np.array([sum(task.lost.values()) for task in tasks], dtype=float)
    attempted = with_value | (~kinds.scored & column.could & (numbers > 0))
    values, lower = (
        np.divide(column.totals, below, out=np.zeros_like(column.totals), where=below > 0)
        for below in (column.counts, numbers)
    )
    mean, interval = column.mean(values, with_value)
    return PooledMean(mean, interval, column.mean(lower, attempted)[0])


def rows(
    cells: Cells, tasks: Sequence[TaskTotals], kinds: "TaskKinds", sums: Sums, *, by_task: bool = False
) -> list[dict[str, Any]]:
    """One row per measure in each cell with a value.

    Args:
        cells: positions of each cell's tasks.
        tasks: all tasks of the run, in the order of the positions.
        kinds: of these tasks.
        sums: values of their measures.
        by_task: whether a task counts once, however many values it has. Parts are always counted one by one.
    """
    columns = [_MeasureColumn.from_totals(measure, tasks, kinds, sums[measure]) for measure in sorted(sums)]
    return [
        {"dimension": dimension, "key": key, "measure": column.measure, **row}
        for (dimension, key), positions in sorted(cells.items())
        for column in columns
        if (row := column.row(positions, of_sets=dimension == Dimension.ALL, by_task=by_task)) is not None
    ]


@dataclass(frozen=True)
class TaskKinds:
    """Kinds of tasks, which decide their measures: `kinds` are pairs of protocol and level, `kind` each task's index.

    `ids`: of the tasks, as texts.
    """

    ids: NDArray[np.str_]
    scored: NDArray[np.bool_]
    kind: NDArray[np.intp]
    kinds: Sequence[tuple[str, str | None]]

    @classmethod
    def from_totals(cls, tasks: Sequence[TaskTotals]) -> Self:
        """Those of tasks, in their order."""
        places: dict[tuple[str, str | None], int] = {}
        kind = [places.setdefault((task.protocol, task.level), len(places)) for task in tasks]
        ids = np.array([str(task.task_id) for task in tasks], dtype=np.str_)
        scored = np.array([task.scored > 0 for task in tasks], dtype=bool)
        return cls(ids, scored, np.array(kind, dtype=np.intp), list(places))


@dataclass(frozen=True)
class _MeasureColumn:
    """A measure of all tasks: number of values and their sum, whether it could have one, and has none though scored."""

    measure: str
    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    could: NDArray[np.bool_]
    lacking: NDArray[np.bool_]
    tasks: Sequence[TaskTotals]

    @classmethod
    def from_totals(cls, measure: str, tasks: Sequence[TaskTotals], kinds: TaskKinds, sums: TaskSums) -> Self:
        places = np.minimum(np.searchsorted(sums.tasks, kinds.ids), len(sums.tasks) - 1)
        with_value = sums.tasks[places] == kinds.ids
        counts, totals = (np.where(with_value, column[places], 0.0) for column in (sums.numbers, sums.totals))
        protocols = {kinds.kinds[index][0] for index in np.unique(kinds.kind[counts > 0])}
        could = np.array([_could(*kind, measure, protocols) for kind in kinds.kinds], dtype=bool)[kinds.kind]
        return cls(measure, counts, totals, could, (counts == 0) & kinds.scored & could, tasks)

    def mean(self, values: NDArray[np.float64], columns: NDArray[np.bool_]) -> tuple[float, Interval]:
        """Mean of one value per chosen task, at least one; OmniBench's is that of its sets."""
        ones = columns.astype(float)
        if self.measure == OF_SETS and (sets := self._sets(ones, values)):
            return mean_of_means(sets)
        interval = cluster_mean_of_columns(ones, values)
        return float(values[columns].mean()), interval or Interval(0.0, 1.0)

    def row(self, positions: Positions, *, of_sets: bool, by_task: bool) -> dict[str, Any] | None:
        """Columns of a cell; None without a value. `of_sets`: OmniBench's mean is that of its sets."""
        counts = self.counts[positions]
        n = int(counts.sum())
        if not n:
            return None
        weights, totals = self.counts, self.totals
        if by_task and self.measure != PARTS:
            totals = np.divide(totals, weights, out=np.zeros_like(totals), where=weights > 0)
            weights = np.minimum(weights, 1.0)
        if of_sets and self.measure == OF_SETS and (sets := self._sets(weights, totals)):
            mean, ends = mean_of_means(sets)
            total = mean * n
        else:
            total = float(totals[positions].sum()) * (n / float(weights[positions].sum()))
            ends = cluster_mean_of_columns(weights[positions], totals[positions]) or Interval(0.0, 1.0)
        return {
            "tasks": int(np.count_nonzero(counts)),
            "undefined_tasks": int(self.lacking[positions].sum()),
            "n": n,
            "total": total,
            "low": ends.low,
            "high": ends.high,
        }

    def _sets(self, counts: NDArray[np.float64], totals: NDArray[np.float64]) -> list[list[TaskCluster]]:
        """Tasks with a count, by the capability that each was composed for; empty if that is not known of all."""
        extras = {id(task.extra): task.extra for task in self.tasks}  # Equal ones are mostly one object.
        composed_for = {key: omnibench_labels.composed_for(extra) for key, extra in extras.items()}
        sets: dict[str, list[TaskCluster]] = {}
        for task, count, total in zip(self.tasks, counts.tolist(), totals.tolist(), strict=True):
            if count:
                capability = composed_for[id(task.extra)]
                if capability is None:
                    return []
                sets.setdefault(capability, []).append(TaskCluster(int(count), total))
        return list(sets.values())


def _could(protocol: str, level: str | None, measure: str, protocols: Collection[str]) -> bool:
    """Whether a scored task of this kind could have the measure: its protocol and level produce it.

    A task with fewer phases, or without parts, lacks nothing.
    """
    if measure == PARTS or PHASE.fullmatch(measure):
        return False
    levels = info(measure).levels
    return protocol in protocols and (not levels or level is None or level in levels)
