"""Requests that are repeated with a key."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class IdempotentRequest(Base):
    """A request with an `Idempotency-Key`: claimed before its work, then with the answer that repetitions get.

    `caller` is a person or program of the project. `fingerprint` is the SHA-256 (hex) of what was asked. The process
    that works on it holds `claim` and renews it; a claim that is not renewed may be taken over. `status` is null until
    the answer is stored, in the transaction of the work.
    """

    __tablename__ = "idempotent_request"
    __table_args__ = (UniqueConstraint("project_id", "caller", "key"),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"))
    caller: Mapped[str]
    key: Mapped[str]
    fingerprint: Mapped[str]
    claim: Mapped[UUID]
    renewed_at: Mapped[Created]
    status: Mapped[int | None]
    headers: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
    body: Mapped[bytes | None]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    created_at: Mapped[Created]
