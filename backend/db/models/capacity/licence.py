"""Licences of programs with their seats."""

from uuid import UUID

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Created, Id, ref


class Licence(Base):
    """A named licence with its seats. Seats in use are counted from live leases, not stored."""

    __tablename__ = "licence"
    __table_args__ = (CheckConstraint("seats >= 0", name="seats"),)

    id: Mapped[Id]
    name: Mapped[str] = mapped_column(unique=True)
    seats: Mapped[int]
    actor_id: Mapped[UUID] = mapped_column(ref("actor"))
    updated_at: Mapped[Created]
