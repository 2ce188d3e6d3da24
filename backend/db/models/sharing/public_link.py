"""Public links: addresses that show one view of a board to everybody who has them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, Json, ref


class PublicLink(Base):
    """One view of a board, read only, until `expires_at` or `revoked_at`. The token itself is not stored."""

    __tablename__ = "public_link"

    id: Mapped[Id]
    benchmark_id: Mapped[UUID] = mapped_column(ref("benchmark"), index=True)
    title: Mapped[str]
    query: Mapped[Json]
    # SHA-256 (hex) of the token.
    token_hash: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    created_at: Mapped[Created]
