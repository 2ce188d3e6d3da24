"""Offline studies, their cells and answers."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from backend.db.models import (
    AgentConfiguration,
    Attempt,
    DemonstrationRecord,
    DemonstrationSet,
    DemonstrationStepRecord,
    OfflineAnswer,
    OfflineCell,
    OfflineStudy,
)
from backend.db.models.enums import OfflineAnswerState
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.pagination import Columns, CursorPage, sorted_page
from backend.db.repositories.runs.budgets import OVER_BUDGET
from backend.domain.model.sort_order import SortOrder

_SET = (
    select(DemonstrationSet.name)
    .where(DemonstrationSet.id == OfflineStudy.set_id)
    .correlate(OfflineStudy)
    .scalar_subquery()
)
_WAITING = OfflineAnswer.state == OfflineAnswerState.WAITING.value
ORDER: Columns = {
    "study": func.lower(func.coalesce(func.nullif(OfflineStudy.name, ""), _SET)),
    "demonstrations": func.lower(_SET),
    "cells": select(func.count(OfflineCell.id))
    .where(OfflineCell.study_id == OfflineStudy.id)
    .correlate(OfflineStudy)
    .scalar_subquery(),
    "progress": select(func.avg(case((_WAITING, 0.0), else_=1.0)))
    .join(OfflineCell, OfflineCell.id == OfflineAnswer.cell_id)
    .where(OfflineCell.study_id == OfflineStudy.id)
    .correlate(OfflineStudy)
    .scalar_subquery(),
    "submitted": OfflineStudy.created_at,
}
"""Columns by which a list of offline studies can be sorted; progress: the share of answers that have arrived."""


def get(session: Session, study_id: UUID) -> OfflineStudy | None:
    return session.get(OfflineStudy, study_id)


def by_key(session: Session, project_id: UUID, key: str) -> OfflineStudy | None:
    """The study with this idempotency key, after waiting for concurrent submissions."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"offline/{project_id}/{key}", 0))))
    query = select(OfflineStudy).where(OfflineStudy.project_id == project_id, OfflineStudy.idempotency_key == key)
    return session.scalar(query)


def listing(
    session: Session, project_id: UUID, *, cursor: str | None, limit: int, order: SortOrder | None = None
) -> CursorPage[OfflineStudy]:
    """Studies, newest first or in another order."""
    query = select(OfflineStudy).where(OfflineStudy.project_id == project_id)
    return sorted_page(session, query, OfflineStudy.id, ORDER, order=order, cursor=cursor, limit=limit)


def cells(session: Session, study_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(OfflineCell, AgentConfiguration), the base cell of each study first."""
    query = (
        select(OfflineCell, AgentConfiguration)
        .join(AgentConfiguration, AgentConfiguration.id == OfflineCell.agent_configuration_id)
        .where(OfflineCell.study_id.in_(study_ids))
    )
    return session.execute(query.order_by(OfflineCell.study_id, OfflineCell.number)).all()


def progress(session: Session, study_ids: Sequence[UUID]) -> Sequence[AnyRow]:
    """(study, state, answers)."""
    query = (
        select(OfflineCell.study_id.label("study"), OfflineAnswer.state, func.count().label("n"))
        .join(OfflineAnswer, OfflineAnswer.cell_id == OfflineCell.id)
        .where(OfflineCell.study_id.in_(study_ids))
        .group_by(OfflineCell.study_id, OfflineAnswer.state)
    )
    return session.execute(query).all()


def answers(session: Session, study_id: UUID, answer_id: UUID | None = None) -> Sequence[AnyRow]:
    """(OfflineAnswer, DemonstrationStepRecord, DemonstrationRecord, Attempt or None) of a study, in order of the set.

    Args:
        session: the transaction.
        study_id: the study.
        answer_id: only this one; None = all.
    """
    query = (
        select(OfflineAnswer, DemonstrationStepRecord, DemonstrationRecord, Attempt)
        .join(OfflineCell, OfflineCell.id == OfflineAnswer.cell_id)
        .join(DemonstrationStepRecord, DemonstrationStepRecord.id == OfflineAnswer.step_id)
        .join(DemonstrationRecord, DemonstrationRecord.id == DemonstrationStepRecord.demonstration_id)
        .outerjoin(Attempt, Attempt.id == DemonstrationRecord.attempt_id)
        .where(OfflineCell.study_id == study_id)
    )
    if answer_id is not None:
        query = query.where(OfflineAnswer.id == answer_id)
    order = (OfflineCell.number, DemonstrationRecord.id, DemonstrationStepRecord.index)
    return session.execute(query.order_by(*order)).all()


def next_waiting(session: Session) -> OfflineAnswer | None:
    """The next step to ask an agent at, of a project within its budget, locked until the end of the transaction."""
    over_budget = select(OfflineCell.id).join(OfflineStudy).where(OfflineStudy.project_id.in_(OVER_BUDGET))
    due = (OfflineAnswer.state == OfflineAnswerState.WAITING.value, OfflineAnswer.available_at <= func.now())
    query = select(OfflineAnswer).where(*due, OfflineAnswer.cell_id.not_in(over_budget))
    query = query.order_by(OfflineAnswer.available_at, OfflineAnswer.id).limit(1)
    return session.scalar(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))


def get_locked(session: Session, answer_id: UUID) -> OfflineAnswer | None:
    """The current answer, locked; None if it is claimed."""
    query = select(OfflineAnswer).where(OfflineAnswer.id == answer_id).with_for_update(skip_locked=True)
    return session.scalar(query.execution_options(populate_existing=True))


def move_all(session: Session, study_id: UUID, before: Sequence[str], values: Mapping[str, Any]) -> int:
    """Sets values of the study's answers in these states, but for those under way; returns their number."""
    cells_of = select(OfflineCell.id).where(OfflineCell.study_id == study_id)
    free = (
        select(OfflineAnswer.id)
        .where(OfflineAnswer.cell_id.in_(cells_of), OfflineAnswer.state.in_(before))
        .with_for_update(skip_locked=True)
    )
    ids = list(session.scalars(free))
    session.execute(update(OfflineAnswer).where(OfflineAnswer.id.in_(ids)).values(dict(values)))
    return len(ids)
