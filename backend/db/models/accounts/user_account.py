"""People who sign in."""

from datetime import datetime

from sqlalchemy import false, text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id


class UserAccount(Base):
    """A person's account, with hashes of their password (Argon2id) and of a one-time link's token (SHA-256)."""

    __tablename__ = "user_account"

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    admin: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Empty until the person has opened their link.
    password_hash: Mapped[str] = mapped_column(default="", server_default=text("''"))
    failed_sign_ins: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    locked_until: Mapped[datetime | None]
    link_hash: Mapped[str | None] = mapped_column(unique=True)
    link_expires_at: Mapped[datetime | None]
    disabled_at: Mapped[datetime | None]
    created_at: Mapped[Created]
