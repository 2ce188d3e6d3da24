"""Quarantine: tasks that people set aside."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class Quarantine(Base):
    """A task set aside by a person; lifted, not deleted, so that the history stays.

    While it is in force, the task runs in no new measurement and its stored scores do not count.
    """

    __tablename__ = "quarantine"
    __table_args__ = (
        Index("uq_quarantine_in_force", "task_id", unique=True, postgresql_where=text("lifted_at IS NULL")),
    )

    id: Mapped[Id]
    task_id: Mapped[UUID] = mapped_column(ref("task"), index=True)
    reason: Mapped[str]
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    created_at: Mapped[Created]
    lifted_at: Mapped[datetime | None]
    lifted_by_id: Mapped[UUID | None] = mapped_column(ref("actor"))
    lift_reason: Mapped[str] = mapped_column(default="", server_default=text("''"))
