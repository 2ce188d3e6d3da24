"""Responses of judges."""

from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class JudgeResponse(Base):
    """One answer of a judge's model, usable or not, as it was paid for. A usable one is never requested again.

    `request_hash` is the hash of everything that decides it, `vote_index` its number among the judge's votes,
    `response` a `backend.domain.judging.judgement.JudgeReply`; `usable`: the response has no problem.
    """

    __tablename__ = "judge_response"
    __table_args__ = (
        Index("ix_judge_response_usable", "request_hash", "vote_index", postgresql_where=text("usable")),
        Index("ix_judge_response_attempt", "attempt_id"),
    )

    id: Mapped[Id]
    judge_id: Mapped[UUID] = mapped_column(ref("judge"))
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    request_hash: Mapped[str]
    vote_index: Mapped[int]
    usable: Mapped[bool]
    response: Mapped[Json]
    usd: Mapped[float] = mapped_column(default=0.0)
    priced: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[Created]
