"""Judgements of people."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class HumanJudgement(Base):
    """A person's verdict on one criterion of one attempt, blind to the judge's; `reached` None: cannot tell.

    It belongs to the attempt and applies to every judge with the same question (`text`).
    """

    __tablename__ = "human_judgement"

    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), primary_key=True)
    actor_id: Mapped[UUID] = mapped_column(ref("actor"), primary_key=True)
    criterion: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    reached: Mapped[bool | None]
    created_at: Mapped[Created]
