"""Labels by people for failures."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, JsonList, ref


class FailureReview(Base):
    """One person's labels of one failed episode, possibly none; a new review replaces the old one.

    `labels` are keys of `backend.domain.judging.failure_labels.LABELS`. `suggestions` are those of the rules at that
    time, as `[label, step, reason]`: accepted if among the labels, else rejected.
    """

    __tablename__ = "failure_review"
    __table_args__ = (UniqueConstraint("episode_id", "actor_id"), Index("ix_failure_review_attempt", "attempt_id"))

    id: Mapped[Id]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"))
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    labels: Mapped[JsonList] = mapped_column(default=list)
    suggestions: Mapped[JsonList] = mapped_column(default=list)
    note: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())
