"""Demonstrations: tasks with their recorded steps."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Id, Json, ref


class DemonstrationRecord(Base):
    """One demonstration; `key` is its id in the set. `attempt_id`: the attempt that it was recorded in, if here."""

    __tablename__ = "demonstration"
    __table_args__ = (UniqueConstraint("set_id", "key"),)

    id: Mapped[Id]
    set_id: Mapped[UUID] = mapped_column(ref("demonstration_set"))
    attempt_id: Mapped[UUID | None] = mapped_column(ref("attempt"))
    key: Mapped[str]
    instruction: Mapped[str]
    note: Mapped[str] = mapped_column(default="")
    platform: Mapped[str]
    labels: Mapped[Json] = mapped_column(default=dict)
