"""Tokens of programs."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, ref
from backend.db.types import one_of


class AccessToken(Base):
    """A person's token, or without a person a project's. Only its hash is stored, and its beginning to recognise it."""

    __tablename__ = "access_token"
    __table_args__ = (one_of("role", enums.Role), UniqueConstraint("trust_rule_id", "id_token_hash"))

    id: Mapped[Id]
    user_id: Mapped[UUID | None] = mapped_column(ref("user_account"), index=True)
    project_id: Mapped[UUID] = mapped_column(ref("project"), index=True)
    # By which a job of a CI system has got it, if it has.
    trust_rule_id: Mapped[UUID | None] = mapped_column(ref("trust_rule"), index=True)
    # SHA-256 (hex) of the `jti` of the id token that it was exchanged for: no second one is.
    id_token_hash: Mapped[str | None]
    name: Mapped[str]
    beginning: Mapped[str]
    # SHA-256 (hex) of the token.
    token_hash: Mapped[str] = mapped_column(unique=True)
    # What the token may do at most.
    role: Mapped[str]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    created_at: Mapped[Created]
