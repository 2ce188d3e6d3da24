"""Means of measures in every cell of a run's cube. Always recomputed completely, with the cube."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.results import measure_rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model import omnibench_labels
from backend.domain.model.measures import PARTS, PHASE, info
from backend.domain.statistics.intervals import Interval, TaskCluster, cluster_mean, mean_of_means
from backend.services.read_model import ReadModel

OF_SETS = "CR"
"""OmniBench's measure that is, over all tasks, the mean of the means of its sets. Protocols reference, section 6."""
Cells = Mapping[tuple[str, str], Sequence[TaskTotals]]
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


def rows(cells: Cells, sums: Sums) -> Iterator[dict[str, Any]]:
    """One row per measure in each cell with a value."""
    protocols = _protocols(cells, sums)
    for (dimension, key), tasks in sorted(cells.items()):
        for measure, by_task in sorted(sums.items()):
            having = [task for task in tasks if task.task_id in by_task]
            clusters = [by_task[task.task_id] for task in having]
            ends = cluster_mean(clusters)
            if ends is None:
                continue
            n, total = sum(cluster.n for cluster in clusters), sum(cluster.total for cluster in clusters)
            if measure == OF_SETS and dimension == Dimension.ALL and (sets := _sets(having, by_task)):
                mean, ends = mean_of_means(sets)
                total = mean * n
            lacking = [task for task in tasks if task.task_id not in by_task]
            yield {
                "dimension": str(dimension),
                "key": key,
                "measure": measure,
                "tasks": len(clusters),
                "undefined_tasks": sum(_could(task, measure, protocols[measure]) for task in lacking),
                "n": n,
                "total": total,
                "low": ends.low,
                "high": ends.high,
            }


def _sets(tasks: Sequence[TaskTotals], by_task: Mapping[UUID, TaskCluster]) -> list[list[TaskCluster]]:
    """The tasks by the capability that each was composed for; empty if that is not known of all of them."""
    sets: dict[str | None, list[TaskCluster]] = {}
    for task in tasks:
        sets.setdefault(omnibench_labels.composed_for(task.extra), []).append(by_task[task.task_id])
    return [] if None in sets else list(sets.values())


def _protocols(cells: Cells, sums: Sums) -> dict[str, set[str]]:
    """Protocols that produced each measure in this run."""
    by_task = {task.task_id: task.protocol for task in cells.get((Dimension.ALL, ""), ())}
    return {measure: {by_task[task] for task in clusters if task in by_task} for measure, clusters in sums.items()}


def _could(task: TaskTotals, measure: str, protocols: Collection[str]) -> bool:
    """Whether a scored task could have the measure: its protocol and level produce it.

    A task with fewer phases, or without parts, lacks nothing.
    """
    if not task.scored or measure == PARTS or PHASE.fullmatch(measure):
        return False
    levels = info(measure).levels
    return task.protocol in protocols and (not levels or task.level is None or task.level in levels)
