"""Re-evaluation requests that are refused or fail."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Episode, Evaluation
from backend.db.models.enums import ReevaluationState
from backend.db.repositories.attempts import reevaluations as repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import episodes, runs
from backend.domain.errors import EvaluatorFailed
from backend.services.lifecycle import retry_policy

PAUSE = timedelta(seconds=15)
"""Seconds until a request with unavailable files is tried again."""
PATIENCE = timedelta(hours=1)
"""Seconds after which such a request fails: others wait for it, a person or the end of a run."""
FINAL = EvaluatorFailed.final_codes | {"evidence_missing", "desktop_needed"}
"""Failures that the stored evidence gives every time, until somebody mends task or metric."""


@dataclass(frozen=True)
class ReevaluationRefusal:
    """An episode that cannot be re-evaluated, and why."""

    episode_id: UUID
    task: str
    reason: str


def fail(session: Session, rescore_id: UUID, message: str, code: str = "") -> None:
    """Ends a request without a new verdict: the old one stays; without one it is retried or given up.

    Does nothing if the request has ended meanwhile.

    Args:
        session: the transaction.
        rescore_id: the request.
        message: why there is no verdict.
        code: of the error: one that cannot change by itself is not retried.
    """
    row = repository.get_locked(session, rescore_id)
    if row is None or row.state != ReevaluationState.WAITING:
        return
    if not session.get_one(Evaluation, row.previous_evaluation_id).failure:
        row.state, row.message, row.ended_at = ReevaluationState.FAILED.value, message, workers.now(session)
        return
    run = runs.lock(session, session.get_one(Episode, row.episode_id).run_id)
    episode = episodes.lock(session, row.episode_id)
    if run is not None and episode is not None:
        retry_policy.not_repeated(session, row, run, episode, message, is_final=code in FINAL)


def put_off(session: Session, rescore_id: UUID, message: str) -> None:
    """Postpones a request whose files are unavailable. It fails in the end.

    Does nothing if the request has ended meanwhile.
    """
    row = repository.get_locked(session, rescore_id)
    if row is None or row.state != ReevaluationState.WAITING:
        return
    now = workers.now(session)
    row.evidence_missing_since = row.evidence_missing_since or now
    if now - row.evidence_missing_since > PATIENCE:
        row.evidence_missing_since = None  # The next try, if there is one, waits as long.
        fail(session, rescore_id, message)
    else:
        row.available_at, row.message = now + PAUSE, message
