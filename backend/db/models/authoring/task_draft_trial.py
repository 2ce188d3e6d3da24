"""Trials of drafts."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class TaskDraftTrial(Base):
    """A trial of a draft's version by oracle, no-op and always-FAIL; their scores belong to the task set."""

    __tablename__ = "task_draft_trial"
    __table_args__ = (Index("ix_task_draft_trial_content", "draft_id", "content_hash", "id"),)

    id: Mapped[Id]
    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"))
    version: Mapped[int]
    content_hash: Mapped[str]
    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"))
    created_at: Mapped[Created]
