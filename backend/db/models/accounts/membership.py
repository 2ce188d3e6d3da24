"""Roles of people in projects."""

from uuid import UUID

from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models import enums
from backend.db.models.base import Base, Created, ref
from backend.db.types import one_of


class Membership(Base):
    """A person's role in a project."""

    __tablename__ = "membership"
    __table_args__ = (one_of("role", enums.Role),)

    user_id: Mapped[UUID] = mapped_column(ref("user_account"), primary_key=True)
    project_id: Mapped[UUID] = mapped_column(ref("project"), primary_key=True, index=True)
    role: Mapped[str]
    created_at: Mapped[Created]
