"""Verdicts of judges."""

from uuid import UUID

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class JudgeVerdict(Base):
    """A judge's majority verdict on one criterion of one attempt; the newest judgement counts."""

    __tablename__ = "judge_verdict"
    __table_args__ = (Index("ix_judge_verdict_attempt", "attempt_id"),)

    judge_id: Mapped[UUID] = mapped_column(ref("judge"), primary_key=True)
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), primary_key=True)
    criterion: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    reached: Mapped[bool]
    step: Mapped[int | None]
    reason: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
