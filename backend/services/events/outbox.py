"""Outbox: notes what webhooks and e-mail are to tell, in the transaction in which it happens.

`backend.services.notifications` makes deliveries of it. Nothing is noted that no subscription asks for.
"""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.models.enums import RANKED_PURPOSES, NotificationType, Origin
from backend.db.repositories.notifications import outbox as repository

AT_END = (NotificationType.RUN_ENDED, NotificationType.RUN_REGRESSION, NotificationType.RUN_LOSSES)


def note_run_end(session: Session, run: Run) -> None:
    """A run, locked by the caller, has ended."""
    if _counts(run):
        repository.add_if_subscribed(session, AT_END, run.id, {"status": run.state}, run.project_id)


def note_loss(session: Session, run: Run) -> None:
    """An episode of a run, locked by the caller, is lost after all its retries."""
    if _counts(run):
        repository.add_if_subscribed(session, (NotificationType.RUN_LOSSES,), run.id, {}, run.project_id)


def note_budget_reached(session: Session, project_id: UUID, subject_id: UUID, data: Mapping[str, str]) -> None:
    """A budget of a run or project is reached. `data` has the `text`, and `run_id` or `project` and `period`."""
    if repository.subscribed(session, NotificationType.BUDGET_REACHED, project_id):
        repository.add(session, NotificationType.BUDGET_REACHED, project_id, subject_id, data)


def note_worker_gone(session: Session, worker_id: UUID, reason: str) -> None:
    """A worker has ended without notice."""
    row = repository.worker_with_node(session, worker_id)
    if row is not None:
        data = {"name": row.Worker.name, "node": row.node, "heartbeat_at": row.Worker.heartbeat_at.isoformat()}
        repository.add_for_all(session, NotificationType.WORKER_GONE, worker_id, {**data, "reason": reason})


def _counts(run: Run) -> bool:
    """Whether people wait for its result: not a practice, a validation or a recording."""
    return run.purpose in RANKED_PURPOSES and run.origin == Origin.MEASURED
