"""Scores of the validation agents on a task."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of
from backend.domain.model.episode import Outcome
from backend.domain.model.run import VALIDATION_AGENTS


class TaskValidation(Base):
    """One result of `benchmark validate`: an episode of the oracle, no-op or always-FAIL agent."""

    __tablename__ = "task_validation"
    __table_args__ = (
        one_of("agent", VALIDATION_AGENTS),
        one_of("outcome", Outcome),
        Index(None, "task_id", "agent", "created_at"),
    )

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    agent: Mapped[str]
    score: Mapped[float | None]
    outcome: Mapped[str]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"), unique=True)
    evaluator_version: Mapped[str | None]
    created_at: Mapped[Created]
