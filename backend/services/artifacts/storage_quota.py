"""Disk usage and disk quota of a project."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.artifacts import retention as repository
from backend.db.repositories.capacity import workers
from backend.domain.errors import Conflict

MIB = 2**20


def refuse_over_quota(session: Session, project_id: UUID) -> None:
    """Refuses what would store more in a project that is over its quota, as last counted.

    Raises:
        Conflict: with the code `disk_quota_exceeded`.
    """
    rules = repository.of_project(session, project_id)
    if rules is None or rules.disk_quota_mib is None or rules.stored_bytes is None:
        return
    if rules.stored_bytes > rules.disk_quota_mib * MIB:
        stored = f"{rules.stored_bytes / MIB:,.1f}"
        raise Conflict(
            f"the project stores {stored} MiB, more than its quota of {rules.disk_quota_mib:,} MiB",
            code="disk_quota_exceeded",
            hint="Delete runs that are no longer needed, shorten the retention of screens, or "
            "ask an administrator to raise the quota.",
        )


def count_stored(session: Session, project_id: UUID) -> int:
    """Recounts the bytes of a project's artifacts; stores and returns the sum."""
    number = repository.stored_bytes(session, project_id)
    rules = repository.get_locked(session, project_id)
    rules.stored_bytes, rules.stored_at = number, workers.now(session)
    return number
