"""Choices of people between two works."""

from uuid import UUID

from sqlalchemy import CheckConstraint, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class Choice(Base):
    """Which of two works of one task a person prefers, as they lay side by side. Each sees a pair once."""

    __tablename__ = "choice"
    __table_args__ = (
        one_of("preferred", enums.Preference),
        CheckConstraint("left_id <> right_id", name="two_works"),
        Index(
            "uq_choice_pair",
            "actor_id",
            text("least(left_id, right_id)"),
            text("greatest(left_id, right_id)"),
            unique=True,
        ),
        Index("ix_choice_task_id", "task_id"),
    )

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    left_id: Mapped[UUID] = mapped_column(ref("work"))
    right_id: Mapped[UUID] = mapped_column(ref("work"))
    preferred: Mapped[str]
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    created_at: Mapped[Created]
