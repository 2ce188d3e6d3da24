"""Submissions that people judge."""

from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, JsonList, ref


class Submission(Base):
    """An attempt's submission, or without an attempt a human expert's, for one task.

    `files` is `[{name, sha256}]`; their bytes are stored as the attempt's evidence, or as an asset of the task set. Its
    id does not reveal the author.
    """

    __tablename__ = "submission"
    __table_args__ = (
        Index("uq_submission_attempt_id", "attempt_id", unique=True),
        Index("uq_submission_expert", "task_id", unique=True, postgresql_where=text("attempt_id IS NULL")),
        Index("ix_submission_task_id", "task_id"),
    )

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    attempt_id: Mapped[UUID | None] = mapped_column(ref("attempt"))
    files: Mapped[JsonList]
    created_at: Mapped[Created]
