"""Sets of demonstrations with their steps."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import (
    Attempt,
    DemonstrationRecord,
    DemonstrationSet,
    DemonstrationStepRecord,
    Episode,
    Run,
    Step,
    Task,
)
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.domain.model.episode import AttemptState
from backend.domain.model.sort_order import SortOrder

ORDER: Columns = {
    "set": func.lower(DemonstrationSet.name),
    "format": DemonstrationSet.form,
    "demonstrations": select(func.count(DemonstrationRecord.id))
    .where(DemonstrationRecord.set_id == DemonstrationSet.id)
    .correlate(DemonstrationSet)
    .scalar_subquery(),
    "steps": select(func.count(DemonstrationStepRecord.id))
    .join(DemonstrationRecord, DemonstrationRecord.id == DemonstrationStepRecord.demonstration_id)
    .where(DemonstrationRecord.set_id == DemonstrationSet.id)
    .correlate(DemonstrationSet)
    .scalar_subquery(),
    "source": func.nullif(func.lower(DemonstrationSet.source), ""),
    "added": DemonstrationSet.created_at,
}
"""Columns by which a list of sets can be sorted."""


def by_name(session: Session, project_id: UUID, name: str) -> DemonstrationSet | None:
    query = select(DemonstrationSet).where(DemonstrationSet.project_id == project_id, DemonstrationSet.name == name)
    return session.scalar(query)


def listing(
    session: Session, project_id: UUID, *, cursor: str | None, limit: int, order: SortOrder | None = None
) -> CursorPage[DemonstrationSet]:
    """Sets, newest first or in another order."""
    query = select(DemonstrationSet).where(DemonstrationSet.project_id == project_id)
    return sorted_page(session, query, DemonstrationSet.id, ORDER, order=order, cursor=cursor, limit=limit)


def counts(session: Session, set_ids: Sequence[UUID]) -> dict[UUID, tuple[int, int]]:
    """(demonstrations, steps) by set."""
    query = (
        select(
            DemonstrationRecord.set_id,
            func.count(DemonstrationRecord.id.distinct()),
            func.count(DemonstrationStepRecord.id),
        )
        .join(DemonstrationStepRecord, DemonstrationStepRecord.demonstration_id == DemonstrationRecord.id)
        .where(DemonstrationRecord.set_id.in_(set_ids))
        .group_by(DemonstrationRecord.set_id)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query)}


def keys(session: Session, set_id: UUID) -> list[str]:
    """Keys of a set's demonstrations, in order."""
    query = select(DemonstrationRecord.key).where(DemonstrationRecord.set_id == set_id)
    return list(session.scalars(query.order_by(DemonstrationRecord.id)))


def step_ids(session: Session, set_id: UUID, keys: Sequence[str]) -> list[UUID]:
    """Steps of these demonstrations, in order."""
    query = (
        select(DemonstrationStepRecord.id)
        .join(DemonstrationRecord, DemonstrationRecord.id == DemonstrationStepRecord.demonstration_id)
        .where(DemonstrationRecord.set_id == set_id, DemonstrationRecord.key.in_(keys))
        .order_by(DemonstrationRecord.id, DemonstrationStepRecord.index)
    )
    return list(session.scalars(query))


def steps_until(session: Session, step: DemonstrationStepRecord) -> Sequence[DemonstrationStepRecord]:
    """The steps of its demonstration up to and with this one, in order."""
    same = DemonstrationStepRecord.demonstration_id == step.demonstration_id
    query = select(DemonstrationStepRecord).where(same, DemonstrationStepRecord.index <= step.index)
    return session.scalars(query.order_by(DemonstrationStepRecord.index)).all()


def scored_attempts(session: Session, run_id: UUID, least: float) -> Sequence[AnyRow]:
    """(Attempt, Task, Run) of a run's scored episodes from that score on, in order."""
    query = (
        select(Attempt, Task, Run)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Run, Run.id == Episode.run_id)
        .join(Task, Task.id == Episode.task_id)
        .where(Run.id == run_id, Attempt.state == AttemptState.SCORED.value, Episode.score >= least)
    )
    return session.execute(query.order_by(Episode.id)).all()


def recorded_steps(session: Session, attempt_id: UUID) -> Sequence[Step]:
    """Steps of an attempt, in order."""
    return session.scalars(select(Step).where(Step.attempt_id == attempt_id).order_by(Step.index)).all()
