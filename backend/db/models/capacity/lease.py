"""Leases."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Index, Sequence, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref

FENCING_TOKENS = Sequence("fencing_token")


class Lease(Base):
    """A worker's fenced lease of a slot; live until released. Every lease has a larger token than all before it.

    `wait_reason` is the code of what its attempt is waiting for externally (`domain.model.reason`), as of the last
    heartbeat; may be empty. `model_wait` is the call of a model that it is waiting for: a `ModelWait` with the times
    `since` and `retry_at` in place of seconds.
    """

    __tablename__ = "lease"
    __table_args__ = (
        Index("ix_lease_worker_live", "worker_id", postgresql_where=text("released_at IS NULL")),
        Index("ix_lease_wait_reason", "id", postgresql_where=text("released_at IS NULL AND wait_reason <> ''")),
        Index("uq_lease_live", "slot_id", unique=True, postgresql_where=text("released_at IS NULL")),
    )

    id: Mapped[Id]
    slot_id: Mapped[UUID] = mapped_column(ref("slot"))
    worker_id: Mapped[UUID] = mapped_column(ref("worker"))
    fencing_token: Mapped[int] = mapped_column(FENCING_TOKENS, server_default=FENCING_TOKENS.next_value(), unique=True)
    acquired_at: Mapped[Created]
    heartbeat_at: Mapped[Created]
    released_at: Mapped[datetime | None]
    wait_reason: Mapped[str] = mapped_column(default="", server_default=text("''"))
    model_wait: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    release_reason: Mapped[str] = mapped_column(default="")
