"""Preferences of people between two submissions."""

from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class PairwisePreference(Base):
    """Which of two submissions for one task, side by side, a person prefers. Each person compares a pair once."""

    __tablename__ = "pairwise_preference"
    __table_args__ = (
        one_of("preference", enums.Preference),
        CheckConstraint("left_id <> right_id", name="two_submissions"),
        Index(
            "uq_pairwise_preference_pair",
            "actor_id",
            text("least(left_id, right_id)"),
            text("greatest(left_id, right_id)"),
            unique=True,
        ),
        Index("ix_pairwise_preference_task_id", "task_id"),
    )

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    left_id: Mapped[UUID] = mapped_column(ref("submission"))
    right_id: Mapped[UUID] = mapped_column(ref("submission"))
    preference: Mapped[str]
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    created_at: Mapped[Created]
