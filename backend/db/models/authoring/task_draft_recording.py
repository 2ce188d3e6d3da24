"""Recordings for drafts."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class TaskDraftRecording(Base):
    """A run that records set-up or solution by the author, and the draft's version that uses it."""

    __tablename__ = "task_draft_recording"
    __table_args__ = (one_of("kind", enums.RecordingKind), Index("ix_task_draft_recording_draft", "draft_id", "id"))

    id: Mapped[Id]
    draft_id: Mapped[UUID] = mapped_column(ref("task_draft"))
    kind: Mapped[str]
    version: Mapped[int]
    run_id: Mapped[UUID] = mapped_column(ref("run"), unique=True)
    used_in_version: Mapped[int | None]
    created_at: Mapped[Created]
