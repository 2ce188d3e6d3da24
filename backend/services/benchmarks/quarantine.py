"""Quarantine: a task that is found wrong runs in no new measurement, and its stored scores stop counting.

Nothing is deleted: lifting the quarantine makes the scores count again. Validation runs include the task, so that a
repair can be tried. An unchanged task stays in quarantine in later versions of its benchmark.
"""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Quarantine
from backend.db.repositories.benchmarks import quarantine as repository
from backend.db.repositories.capacity import workers
from backend.domain.errors import Conflict, Invalid
from backend.services.benchmarks.benchmarks import get_task

LONGEST_REASON = 500


def quarantine_task(session: Session, task_id: UUID, reason: str, actor: Actor) -> Quarantine:
    """Puts a task in quarantine.

    Raises:
        NotFound: there is no such task.
        Invalid: the reason is blank or too long.
        Conflict: the task is in quarantine already.
    """
    text = _reason(reason)
    task = get_task(session, task_id)
    entry = repository.in_force(session, [task.id]).get(task.id)
    if entry is not None:
        raise Conflict(
            f"{task.key} is in quarantine already: {entry.reason}",
            code="already_quarantined",
            hint="Lift the quarantine first to give another reason.",
        )
    entry = Quarantine(task_id=task.id, reason=text, actor_id=actor.id)
    session.add(entry)
    session.flush()  # The entry's time is the database's.
    repository.mark_stale(session, task.id)
    return entry


def lift_quarantine(session: Session, task_id: UUID, reason: str, actor: Actor) -> Quarantine:
    """Ends a task's quarantine.

    Raises:
        NotFound: there is no such task.
        Invalid: the reason is blank or too long.
        Conflict: the task is not in quarantine.
    """
    text = _reason(reason)
    task = get_task(session, task_id)
    entry = repository.in_force(session, [task.id]).get(task.id)
    if entry is None:
        raise Conflict(f"{task.key} is not in quarantine", code="not_quarantined")
    entry.lifted_at, entry.lifted_by_id, entry.lift_reason = workers.now(session), actor.id, text
    session.flush()
    repository.mark_stale(session, task.id)
    return entry


def _reason(reason: str) -> str:
    text = reason.strip()
    if not 0 < len(text) <= LONGEST_REASON or not text.isprintable():
        raise Invalid(
            f"expected a reason of 1 to {LONGEST_REASON} printable characters", code="invalid_reason", path="reason"
        )
    return text
