"""Identities of people at OpenID providers."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class UserIdentity(Base):
    """A subject of an OpenID provider, and the account that it signs in to."""

    __tablename__ = "user_identity"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)

    id: Mapped[Id]
    user_id: Mapped[UUID] = mapped_column(ref("user_account"), index=True)
    issuer: Mapped[str]
    # As the issuer calls the person; never reassigned, unlike an e-mail address.
    subject: Mapped[str]
    used_at: Mapped[datetime]
    created_at: Mapped[Created]
