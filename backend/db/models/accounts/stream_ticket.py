"""Tickets with which a client that cannot send headers opens one stream."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id


class StreamTicket(Base):
    """A ticket that is not used yet; using it deletes it. Only the hash of it is stored.

    `credential` is `session`, `token` or `service`, and `credential_hash` the SHA-256 (hex) by which that session or
    token is found: the ticket is worth no more than it.
    """

    __tablename__ = "stream_ticket"

    id: Mapped[Id]
    # SHA-256 (hex) of the ticket.
    token_hash: Mapped[str] = mapped_column(unique=True)
    credential: Mapped[str]
    credential_hash: Mapped[str]
    # Name of the project that the stream is about; empty: the first of the person.
    project: Mapped[str]
    path: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    created_at: Mapped[Created]
