"""Answers of judges."""

from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class JudgeAnswer(Base):
    """One answer of a judge's model, usable or not, as it was paid for. A usable one is never requested again.

    `question` is the hash of all that decides it, `vote` its number among the judge's votes, `answer` a
    `backend.domain.judging.judgement.JudgeReply`; `usable` says that the answer has no problem.
    """

    __tablename__ = "judge_answer"
    __table_args__ = (
        Index("ix_judge_answer_usable", "question", "vote", postgresql_where=text("usable")),
        Index("ix_judge_answer_attempt", "attempt_id"),
    )

    id: Mapped[Id]
    judge_id: Mapped[UUID] = mapped_column(ref("judge"))
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    question: Mapped[str]
    vote: Mapped[int]
    usable: Mapped[bool]
    answer: Mapped[Json]
    usd: Mapped[float] = mapped_column(default=0.0)
    priced: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[Created]
