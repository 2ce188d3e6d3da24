"""Verdicts of people."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, ref


class PersonVerdict(Base):
    """What a person who saw no judge's verdict says of one criterion of one attempt; `reached` None: cannot be told.

    It belongs to the attempt: it checks every judge of it that was asked the same (`text`).
    """

    __tablename__ = "person_verdict"

    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"), primary_key=True)
    actor_id: Mapped[UUID] = mapped_column(ref("actor"), primary_key=True)
    criterion: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]
    reached: Mapped[bool | None]
    created_at: Mapped[Created]
