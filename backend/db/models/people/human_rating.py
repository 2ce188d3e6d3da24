"""Ratings of people."""

from uuid import UUID

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class HumanRating(Base):
    """A person's rating of a graph of subtasks: completion and sensible order, in tenths (0, 10 .. 100 %)."""

    __tablename__ = "human_rating"
    __table_args__ = (
        CheckConstraint("completion BETWEEN 0 AND 100 AND completion % 10 = 0", name="completion_tenths"),
        CheckConstraint("logic BETWEEN 0 AND 100 AND logic % 10 = 0", name="logic_tenths"),
    )

    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), primary_key=True)
    actor_id: Mapped[UUID] = mapped_column(ref("actor"), primary_key=True)
    completion: Mapped[int]
    logic: Mapped[int]
    created_at: Mapped[Created]
