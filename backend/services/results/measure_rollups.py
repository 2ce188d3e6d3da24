"""Means of measures in every cell of a run's cube. Always recomputed completely, with the cube."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
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
Sums = Mapping[str, Mapping[UUID, TaskCluster]]
"""By measure, then by task: number of values, and their sum."""


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
        cube.setdefault(row.dimension, {}).setdefault(row.key, {})[row.measure] = _stored(row)
    return dict(cube)


def _stored(row: Any) -> MeasureMean:
    return _mean(row.total, row.n, (row.low, row.high), row.tasks, row.undefined_tasks)


def _mean(total: float, n: int, ends: tuple[float, float], tasks: int, undefined: int) -> MeasureMean:
    return MeasureMean(mean=total / n, interval=Interval(*ends), n=n, tasks=tasks, undefined_tasks=undefined)


def task_sums(session: Session, run_id: UUID) -> Sums:
    """Sums per task of a run, from its current evaluations."""
    sums: dict[str, dict[UUID, TaskCluster]] = {}
    for row in repository.task_sums(session, run_id):
        sums.setdefault(row.measure, {})[row.task_id] = TaskCluster(row.n, row.total)
    return sums


def rows(cells: Cells, tasks: Sequence[TaskTotals], sums: Sums) -> list[dict[str, Any]]:
    """One row per measure in each cell with a value.

    Args:
        cells: positions of each cell's tasks.
        tasks: all tasks of the run, in the order of the positions.
        sums: values of their measures.
    """
    columns = [_MeasureColumn.of(measure, tasks, by_task) for measure, by_task in sorted(sums.items())]
    return [
        {"dimension": dimension, "key": key, "measure": column.measure, **row}
        for (dimension, key), positions in sorted(cells.items())
        for column in columns
        if (row := column.row(positions, of_sets=dimension == Dimension.ALL)) is not None
    ]


@dataclass(frozen=True)
class _MeasureColumn:
    """A measure of all tasks: number of values and their sum, and whether a task without one could have one."""

    measure: str
    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    lacking: NDArray[np.bool_]
    tasks: Sequence[TaskTotals]

    @classmethod
    def of(cls, measure: str, tasks: Sequence[TaskTotals], by_task: Mapping[UUID, TaskCluster]) -> Self:
        none = TaskCluster(0, 0.0)
        clusters = [by_task.get(task.task_id, none) for task in tasks]
        protocols = {task.protocol for task, cluster in zip(tasks, clusters, strict=True) if cluster.n}
        lacking = [
            not cluster.n and _could(task, measure, protocols) for task, cluster in zip(tasks, clusters, strict=True)
        ]
        counts = np.array([cluster.n for cluster in clusters], dtype=float)
        totals = np.array([cluster.total for cluster in clusters], dtype=float)
        return cls(measure, counts, totals, np.array(lacking, dtype=bool), tasks)

    def row(self, positions: Positions, *, of_sets: bool) -> dict[str, Any] | None:
        """Columns of a cell; None without a value. `of_sets`: OmniBench's mean is that of its sets."""
        counts, totals = self.counts[positions], self.totals[positions]
        ends = cluster_mean_of_columns(counts, totals)
        if ends is None:
            return None
        n, total = int(counts.sum()), float(totals.sum())
        if of_sets and self.measure == OF_SETS and (sets := self._sets()):
            mean, ends = mean_of_means(sets)
            total = mean * n
        return {
            "tasks": int(np.count_nonzero(counts)),
            "undefined_tasks": int(self.lacking[positions].sum()),
            "n": n,
            "total": total,
            "low": ends.low,
            "high": ends.high,
        }

    def _sets(self) -> list[list[TaskCluster]]:
        """The tasks by the capability that each was composed for; empty if that is not known of all of them."""
        extras = {id(task.extra): task.extra for task in self.tasks}  # Equal ones are mostly one object.
        composed_for = {key: omnibench_labels.composed_for(extra) for key, extra in extras.items()}
        sets: dict[str, list[TaskCluster]] = {}
        for task, count, total in zip(self.tasks, self.counts.tolist(), self.totals.tolist(), strict=True):
            if count:
                capability = composed_for[id(task.extra)]
                if capability is None:
                    return []
                sets.setdefault(capability, []).append(TaskCluster(int(count), total))
        return list(sets.values())


def _could(task: TaskTotals, measure: str, protocols: Collection[str]) -> bool:
    """Whether a scored task could have the measure: its protocol and level produce it.

    A task with fewer phases, or without parts, lacks nothing.
    """
    if not task.scored or measure == PARTS or PHASE.fullmatch(measure):
        return False
    levels = info(measure).levels
    return task.protocol in protocols and (not levels or task.level is None or task.level in levels)
