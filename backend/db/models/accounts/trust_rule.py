"""Trust rules: jobs of CI systems that get a token of a project without a stored secret."""

from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, Id, Json, ref
from backend.db.types import one_of


class TrustRule(Base):
    """A project trusts the id tokens of an issuer, for an audience, whose claims match."""

    __tablename__ = "trust_rule"
    __table_args__ = (one_of("role", enums.Role),)

    id: Mapped[Id]
    project_id: Mapped[UUID] = mapped_column(ref("project"), index=True)
    name: Mapped[str]
    issuer: Mapped[str]
    audience: Mapped[str]
    # Pattern by claim; `*` stands for any text.
    claims: Mapped[Json]
    # What its tokens may do, and for how many minutes.
    role: Mapped[str]
    minutes: Mapped[int]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    created_at: Mapped[Created]
