"""Maintenance mode."""

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.db.models import Maintenance


def current(session: Session) -> Maintenance | None:
    """The maintenance that has not ended, if any."""
    return session.scalar(select(Maintenance).where(Maintenance.ended_at.is_(None)))


def end(session: Session) -> bool:
    """Ends it. False if there was none."""
    query = update(Maintenance).where(Maintenance.ended_at.is_(None)).values(ended_at=func.now())
    return session.scalar(query.returning(Maintenance.id)) is not None
