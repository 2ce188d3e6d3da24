"""Nodes."""

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import words
from backend.db.models.base import Base, Created, Id, Json
from backend.db.types import one_of


class Node(Base):
    """A machine with slots."""

    __tablename__ = "node"
    __table_args__ = (one_of("state", words.NodeState),)

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    labels: Mapped[Json] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(default=words.NodeState.READY)
    created_at: Mapped[Created]
