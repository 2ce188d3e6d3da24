"""Sessions of people who have signed in."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class UserSession(Base):
    """One browser's session; signing out or revoking deletes it. Only the hash of its cookie is stored."""

    __tablename__ = "user_session"

    id: Mapped[Id]
    user_id: Mapped[UUID] = mapped_column(ref("user_account"), index=True)
    # SHA-256 (hex) of the cookie.
    token_hash: Mapped[str] = mapped_column(unique=True)
    address: Mapped[str] = mapped_column(default="", server_default=text("''"))
    user_agent: Mapped[str] = mapped_column(default="", server_default=text("''"))
    used_at: Mapped[Created]
    expires_at: Mapped[datetime]
    created_at: Mapped[Created]
