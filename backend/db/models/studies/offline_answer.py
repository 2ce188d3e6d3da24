"""Answers of agents at steps of demonstrations."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, JsonList, ref
from backend.db.types import one_of


class OfflineAnswer(Base):
    """An agent's answer at one step. The agent is asked up to `tries` times, from `available_at` on.

    `invalid`: why the reply cannot be read as an action. `message`: why the agent could not be asked.
    """

    __tablename__ = "offline_answer"
    __table_args__ = (
        one_of("state", enums.OfflineAnswerState),
        UniqueConstraint("cell_id", "step_id"),
        Index("ix_offline_answer_waiting", "available_at", "id", postgresql_where=text("state = 'waiting'")),
    )

    id: Mapped[Id]
    cell_id: Mapped[UUID] = mapped_column(ref("offline_cell"))
    step_id: Mapped[UUID] = mapped_column(ref("demonstration_step"))
    state: Mapped[str] = mapped_column(default="waiting", server_default=text("'waiting'"))
    tries: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    available_at: Mapped[Created]
    actions: Mapped[JsonList] = mapped_column(default=list, server_default=text("'[]'"))
    reply: Mapped[str] = mapped_column(default="", server_default=text("''"))
    invalid: Mapped[str] = mapped_column(default="", server_default=text("''"))
    usage: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    seconds: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))
    message: Mapped[str] = mapped_column(default="", server_default=text("''"))
    ended_at: Mapped[datetime | None]
