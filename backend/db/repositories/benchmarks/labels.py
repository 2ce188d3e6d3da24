"""Labels of tasks: counts per task set, filters, new values."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, false, or_, select, text
from sqlalchemy.orm import Session

from backend.db.models import Task, TaskSet
from backend.db.types import dump_json
from backend.domain.model.label_filter import MOST_VALUES, TaskLabelValues
from backend.domain.model.task import UNLABELLED

COUNTS = "labels"
"""Key of a task set's `counts` with the number of tasks by label and value."""
_COUNT = text("""
    UPDATE task_set SET counts = counts || jsonb_build_object('labels', (
        SELECT coalesce(jsonb_object_agg(name, numbers), '{}') FROM (
            SELECT name, jsonb_object_agg(value, tasks) AS numbers FROM (
                SELECT l.key AS name, v.value, count(*) AS tasks
                FROM task t, jsonb_each(t.labels) l, jsonb_array_elements_text(l.value) v
                WHERE t.task_set_id = task_set.id AND l.key <> 'twin' GROUP BY l.key, v.value
            ) pairs GROUP BY name HAVING count(*) <= :most OR name = 'domain'
        ) counted
    )) WHERE id = :task_set
""")
_REPLACE = text("""
    UPDATE task t SET labels = fresh.labels
    FROM (
        SELECT f.key, f.value || coalesce(l.labels, '{}') || CASE WHEN l.difficulty IS NULL THEN '{}'::jsonb
            ELSE jsonb_build_object('difficulty', jsonb_build_array(l.difficulty)) END AS labels
        FROM jsonb_each(CAST(:labels AS jsonb)) f
        LEFT JOIN task_label l ON l.benchmark_id = :benchmark AND l.domain || '/' || l.name = f.key
    ) fresh
    WHERE t.task_set_id = :task_set AND t.domain || '/' || t.name = fresh.key AND t.labels <> fresh.labels
    RETURNING t.id
""")


def count(session: Session, task_set_id: UUID) -> None:
    """Stores how many tasks of a task set have each value of each label."""
    session.flush()  # The statement counts what was imported just now.
    session.execute(_COUNT, {"task_set": task_set_id, "most": MOST_VALUES})
    session.expire(session.get_one(TaskSet, task_set_id), ["counts"])


def replace_all(session: Session, task_set: TaskSet, rows: Mapping[str, TaskLabelValues]) -> bool:
    """Replaces labels by the task's key, under those of people. True if any has changed; then they are counted."""
    values = {"labels": dump_json(rows), "task_set": task_set.id, "benchmark": task_set.benchmark_id}
    changed = session.execute(_REPLACE, values).first() is not None
    if changed:
        count(session, task_set.id)
    return changed


def counts_of(task_set: TaskSet) -> dict[str, dict[str, int]]:
    """Number of tasks by label and value."""
    return dict(task_set.counts.get(COUNTS, {}))


def has(conditions: Mapping[str, Sequence[str]]) -> list[ColumnElement[bool]]:
    """Conditions on tasks: those of `label_filter`."""
    return [or_(false(), *(_has(name, value) for value in values)) for name, values in conditions.items()]


def _has(name: str, value: str) -> ColumnElement[bool]:
    matches = Task.labels.contains({name: [value]})
    return matches | ~Task.labels.has_key(name) if value == UNLABELLED else matches


def of_tasks(session: Session, task_set_id: UUID) -> list[tuple[str, str, TaskLabelValues]]:
    """(domain, name, labels) of every task, in the order of their names."""
    query = select(Task.domain, Task.name, Task.labels).where(Task.task_set_id == task_set_id)
    return [(row[0], row[1], row[2]) for row in session.execute(query.order_by(Task.domain, Task.name))]
