"""Maintenance mode."""

from datetime import datetime

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped

from backend.db.models.base import Base, Created, Id


class Maintenance(Base):
    """A time in which no work starts; at most one has not ended. `started_by` is a person's or program's name."""

    __tablename__ = "maintenance"
    __table_args__ = (
        Index(
            "uq_maintenance_open", text("(ended_at IS NULL)"), unique=True, postgresql_where=text("ended_at IS NULL")
        ),
    )

    id: Mapped[Id]
    reason: Mapped[str]
    started_by: Mapped[str]
    started_at: Mapped[Created]
    ended_at: Mapped[datetime | None]
