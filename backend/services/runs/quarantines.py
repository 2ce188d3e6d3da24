"""Quarantined tasks: they do not run in measurements until the entry is lifted."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Quarantine
from backend.db.repositories.benchmarks import tasks as repository
from backend.db.repositories.runs import episodes
from backend.domain.errors import Invalid
from backend.services.benchmarks.benchmarks import get_task


def quarantine_task(session: Session, task_id: UUID, reason: str, actor: Actor) -> Quarantine:
    """Quarantines a task; an existing entry keeps its reason."""
    if not reason.strip():
        raise Invalid("a reason is needed", code="invalid_request", path="reason")
    task = get_task(session, task_id)
    known = repository.quarantined(session, [task.id]).get(task.id)
    if known is not None:
        return known
    entry = Quarantine(task_id=task.id, reason=reason.strip(), actor_id=actor.id)
    session.add(entry)
    session.flush()  # The entry's time is the database's.
    return entry


def lift_quarantine(session: Session, task_id: UUID) -> bool:
    """Ends a task's quarantine. False if there was none."""
    known = repository.quarantined(session, [task_id]).get(task_id)
    if known is not None:
        known.lifted_at = episodes.now(session)
    return known is not None
