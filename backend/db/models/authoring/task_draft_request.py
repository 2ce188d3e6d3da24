"""Requests to a model for drafts."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class TaskDraftRequest(Base):
    """Request for model-written drafts. `model_request` has its parameters, `usage` the cost."""

    __tablename__ = "task_draft_request"
    __table_args__ = (
        one_of("state", enums.DraftRequestState),
        CheckConstraint("requested_count BETWEEN 1 AND 20", name="requested_count"),
        Index("ix_task_draft_request_waiting", "id", postgresql_where=text("state = 'waiting'")),
    )

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    benchmark: Mapped[str]
    persona: Mapped[str]
    requested_count: Mapped[int]
    model_request: Mapped[Json] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(default=enums.DraftRequestState.WAITING)
    message: Mapped[str] = mapped_column(default="")
    created_count: Mapped[int] = mapped_column(default=0)
    usage: Mapped[Json] = mapped_column(default=dict)
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
