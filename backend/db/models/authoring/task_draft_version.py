"""Versions of drafts."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class TaskDraftVersion(Base):
    """A version of a draft, never changed. `note` is its origin (`edited`, `recorded set-up`, ...)."""

    __tablename__ = "task_draft_version"
    __table_args__ = (UniqueConstraint("draft_id", "number"),)

    id: Mapped[Id]
    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"))
    number: Mapped[int]
    content: Mapped[Json]
    content_hash: Mapped[str]
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    note: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
