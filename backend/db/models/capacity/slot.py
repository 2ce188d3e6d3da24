"""Slots."""

from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Id, ref
from backend.db.types import one_of


class Slot(Base):
    """The right to run one desktop of one provider on one node."""

    __tablename__ = "slot"
    __table_args__ = (UniqueConstraint("node_id", "provider", "index"), one_of("state", enums.SlotState))

    id: Mapped[Id]
    node_id: Mapped[UUID] = mapped_column(ref("node"))
    provider: Mapped[str]
    index: Mapped[int]
    state: Mapped[str] = mapped_column(default=enums.SlotState.FREE)
    reason: Mapped[str] = mapped_column(default="")
