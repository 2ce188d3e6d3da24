"""Nodes."""

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json
from backend.db.types import one_of
from backend.domain.machines.nodes import NodeState


class Node(Base):
    """A machine with slots: a worker's own (`cluster` is empty), or one of a cluster that workers serve.

    `last_seen_at` is when a worker last saw it in its cluster, `capacity` the resources from which its slots were
    computed. Node and slot state together decide whether a slot may be leased.
    """

    __tablename__ = "node"
    __table_args__ = (UniqueConstraint("cluster", "name"), one_of("state", NodeState))

    id: Mapped[Id]
    cluster: Mapped[str] = mapped_column(default="", server_default=text("''"))
    name: Mapped[str]
    labels: Mapped[Json] = mapped_column(default=dict)
    capacity: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    state: Mapped[str] = mapped_column(default=NodeState.READY)
    reason: Mapped[str] = mapped_column(default="", server_default=text("''"))
    last_seen_at: Mapped[Created]
    created_at: Mapped[Created]
