"""Requests to models for drafts."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import TaskDraftRequest
from backend.db.models.enums import DraftRequestState
from backend.db.repositories.runs.budgets import OVER_BUDGET


def next_waiting(session: Session) -> TaskDraftRequest | None:
    """The oldest unclaimed request of a project within its budget, locked until the end of the transaction."""
    waiting = DraftRequestState.WAITING.value
    within = TaskDraftRequest.project_id.not_in(OVER_BUDGET)
    query = select(TaskDraftRequest).where(TaskDraftRequest.state == waiting, within)
    query = query.order_by(TaskDraftRequest.id).limit(1)
    return session.scalar(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))


def get_locked(session: Session, request_id: UUID) -> TaskDraftRequest | None:
    """The current request, locked; None if it is claimed."""
    query = select(TaskDraftRequest).where(TaskDraftRequest.id == request_id).with_for_update(skip_locked=True)
    return session.scalar(query.execution_options(populate_existing=True))


def listing(session: Session, project_id: UUID, *, limit: int = 20) -> Sequence[TaskDraftRequest]:
    query = select(TaskDraftRequest).where(TaskDraftRequest.project_id == project_id)
    return session.scalars(query.order_by(TaskDraftRequest.id.desc()).limit(limit)).all()
