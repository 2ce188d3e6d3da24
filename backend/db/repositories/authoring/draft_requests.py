"""Requests to models for drafts."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import TaskDraftRequest
from backend.db.models.enums import DraftRequestState


def next_waiting(session: Session) -> TaskDraftRequest | None:
    """The oldest unclaimed request, locked until the end of the transaction."""
    waiting = DraftRequestState.WAITING.value
    query = select(TaskDraftRequest).where(TaskDraftRequest.state == waiting).order_by(TaskDraftRequest.id).limit(1)
    return session.scalar(query.with_for_update(skip_locked=True).execution_options(populate_existing=True))


def locked(session: Session, request_id: UUID) -> TaskDraftRequest | None:
    """The current request, locked; None if it is claimed."""
    query = select(TaskDraftRequest).where(TaskDraftRequest.id == request_id).with_for_update(skip_locked=True)
    return session.scalar(query.execution_options(populate_existing=True))


def listing(session: Session, project_id: UUID, *, limit: int = 20) -> Sequence[TaskDraftRequest]:
    query = select(TaskDraftRequest).where(TaskDraftRequest.project_id == project_id)
    return session.scalars(query.order_by(TaskDraftRequest.id.desc()).limit(limit)).all()
