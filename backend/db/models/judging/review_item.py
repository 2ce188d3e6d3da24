"""Items for blind reviews of a judge."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class ReviewItem(Base):
    """A judged attempt, drawn with `seed`. Items are offered in order of id."""

    __tablename__ = "review_item"
    __table_args__ = (UniqueConstraint("judge_id", "attempt_id"),)

    id: Mapped[Id]
    judge_id: Mapped[UUID] = mapped_column(ref("judge"))
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), index=True)
    seed: Mapped[int]
    created_at: Mapped[Created]
