"""The audit log."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import AuditEntry


def newest(session: Session, limit: int, before: UUID | None) -> list[AuditEntry]:
    """Entries, the newest first; those older than `before` (ids are ordered by time)."""
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    return list(session.scalars(query if before is None else query.where(AuditEntry.id < before)))
