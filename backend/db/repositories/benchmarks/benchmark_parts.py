"""Other parts of a benchmark or task set: variants, selections, labels, published results."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from backend.db.models import (
    Attempt,
    Episode,
    Evaluation,
    PublishedResult,
    Run,
    Task,
    TaskLabel,
    TaskSelection,
    TaskSet,
    TaskVariant,
)


def add_variants(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts variants of existing tasks."""
    if rows:
        session.execute(insert(TaskVariant), [dict(row) for row in rows])


def variant_spec(session: Session, task_id: UUID, axis: str, value: str) -> dict[str, Any] | None:
    """The task under that condition; None if it has no such variant."""
    query = select(TaskVariant.spec)
    return session.scalar(
        query.where(TaskVariant.task_id == task_id, TaskVariant.axis == axis, TaskVariant.value == value)
    )


def with_variant(session: Session, task_set_id: UUID, axis: str, value: str) -> set[UUID]:
    """Ids of a task set's tasks that have that variant."""
    query = select(Task.id).join(TaskVariant, TaskVariant.task_id == Task.id).where(Task.task_set_id == task_set_id)
    return set(session.scalars(query.where(TaskVariant.axis == axis, TaskVariant.value == value)))


def variant_counts(session: Session, task_set_id: UUID) -> list[tuple[str, str, int]]:
    """Every (axis, value) of a task set with its number of tasks."""
    query = select(TaskVariant.axis, TaskVariant.value, func.count()).join(Task, Task.id == TaskVariant.task_id)
    query = query.where(Task.task_set_id == task_set_id).group_by(TaskVariant.axis, TaskVariant.value)
    return [(row[0], row[1], row[2]) for row in session.execute(query.order_by(TaskVariant.axis, TaskVariant.value))]


def variants_of(session: Session, task_ids: Sequence[UUID]) -> list[TaskVariant]:
    """All variants of these tasks."""
    query = select(TaskVariant).where(TaskVariant.task_id.in_(task_ids))
    return list(session.scalars(query.order_by(TaskVariant.task_id, TaskVariant.axis, TaskVariant.value)))


def variants_of_set(session: Session, task_set_id: UUID) -> list[tuple[Task, TaskVariant]]:
    """All variants of a task set with their tasks, in the order of import."""
    query = select(Task, TaskVariant).join(TaskVariant, TaskVariant.task_id == Task.id)
    query = query.where(Task.task_set_id == task_set_id).order_by(Task.id, TaskVariant.axis, TaskVariant.value)
    return [(row[0], row[1]) for row in session.execute(query)]


def add_selections(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        session.execute(insert(TaskSelection), [dict(row) for row in rows])


def selections(session: Session, task_set_id: UUID) -> dict[str, list[str]]:
    """Keys of the tasks of each named selection."""
    query = select(TaskSelection.name, TaskSelection.tasks).where(TaskSelection.task_set_id == task_set_id)
    return {row[0]: list(row[1]) for row in session.execute(query.order_by(TaskSelection.name))}


def selection_sizes(session: Session, task_set_id: UUID) -> dict[str, int]:
    """Number of tasks of each named selection."""
    number = func.jsonb_array_length(TaskSelection.tasks)
    query = select(TaskSelection.name, number).where(TaskSelection.task_set_id == task_set_id)
    return {row[0]: row[1] for row in session.execute(query.order_by(TaskSelection.name))}


def put_labels(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stores labels by people; a newer one for the same task replaces the old one."""
    if rows:
        query = upsert(TaskLabel).values([dict(row) for row in rows])
        fields = ("difficulty", "difficulty_source", "human_seconds", "human_steps")
        columns = TaskLabel.__table__.c
        fresh: dict[str, ColumnElement[Any]] = {
            name: func.coalesce(query.excluded[name], columns[name]) for name in fields
        }
        fresh["labels"] = columns.labels.op("||")(query.excluded.labels)
        session.execute(query.on_conflict_do_update(index_elements=["benchmark_id", "domain", "name"], set_=fresh))


def apply_labels(session: Session, benchmark_id: UUID) -> list[UUID]:
    """Writes people's labels over those of the files, in every version. Returns the tasks that changed."""
    label = TaskLabel.__table__.c
    fields = ("difficulty", "difficulty_source", "human_seconds", "human_steps")
    fresh: dict[str, ColumnElement[Any]] = {name: func.coalesce(label[name], Task.__table__.c[name]) for name in fields}
    difficulty = func.jsonb_build_object("difficulty", func.jsonb_build_array(label.difficulty))
    named = case((label.difficulty.is_not(None), label.labels.op("||")(difficulty)), else_=label.labels)
    fresh["labels"] = Task.labels.op("||")(named)
    sets = select(TaskSet.id).where(TaskSet.benchmark_id == benchmark_id)
    differs = [Task.__table__.c[name].is_distinct_from(value) for name, value in fresh.items()]
    query = update(Task).where(
        Task.task_set_id.in_(sets),
        label.benchmark_id == benchmark_id,
        label.domain == Task.domain,
        label.name == Task.name,
        or_(*differs),
    )
    return list(session.scalars(query.values(fresh).returning(Task.id).execution_options(synchronize_session=False)))


def mark_stale(session: Session, benchmark_id: UUID) -> None:
    """Marks the cubes of a benchmark's runs as stale."""
    sets = select(TaskSet.id).where(TaskSet.benchmark_id == benchmark_id)
    session.execute(update(Run).where(Run.task_set_id.in_(sets)).values(rollup_stale=True))


def replace_reported(session: Session, benchmark_id: UUID, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replaces the stored published results."""
    session.execute(delete(PublishedResult).where(PublishedResult.benchmark_id == benchmark_id))
    if rows:
        session.execute(insert(PublishedResult), [{**row, "benchmark_id": benchmark_id} for row in rows])


def scores_of(session: Session, task_ids: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
    """Scored episodes and stored evaluations of each task that has any."""
    query = (
        select(
            Episode.task_id,
            func.count(Episode.id.distinct()).filter(Episode.outcome == "scored"),
            func.count(Evaluation.id),
        )
        .outerjoin(Attempt, Attempt.episode_id == Episode.id)
        .outerjoin(Evaluation, Evaluation.attempt_id == Attempt.id)
        .where(Episode.task_id.in_(task_ids))
        .group_by(Episode.task_id)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query) if row[1] or row[2]}
