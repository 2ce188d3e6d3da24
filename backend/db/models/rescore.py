"""Requests to score stored evidence again."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import words
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class Rescore(Base):
    """One scored attempt that is to be scored again, or was.

    `task_id` is the task that judges, perhaps of a newer task set; `before_id` the evaluation that was current when it
    was asked for, `after_id` the new one.
    """

    __tablename__ = "rescore"
    __table_args__ = (
        one_of("state", words.RescoreState),
        Index(
            "uq_rescore_waiting",
            "attempt_id",
            "task_id",
            "make_current",
            unique=True,
            postgresql_where=text("state = 'waiting'"),
        ),
    )

    id: Mapped[Id]
    episode_id: Mapped[UUID] = mapped_column(ref("episode"), index=True)
    attempt_id: Mapped[UUID] = mapped_column(ref("attempt"))
    task_id: Mapped[UUID] = mapped_column(ref("task"))
    before_id: Mapped[UUID] = mapped_column(ref("evaluation"))
    after_id: Mapped[UUID | None] = mapped_column(ref("evaluation"))
    actor_id: Mapped[UUID | None] = mapped_column(ref("actor"))
    make_current: Mapped[bool] = mapped_column(default=True)
    state: Mapped[str] = mapped_column(default="waiting")
    message: Mapped[str] = mapped_column(default="")
    created_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
