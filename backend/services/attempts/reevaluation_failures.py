"""Requests to score again that are refused, or come to no new verdict."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Episode, Evaluation
from backend.db.models.enums import RescoreState
from backend.db.repositories.attempts import reevaluations as repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import episodes, runs
from backend.services.lifecycle import retry_policy

PAUSE = timedelta(seconds=15)
"""Until a request is tried again whose files could not be had."""
PATIENCE = timedelta(hours=1)
"""For so long they are waited for; then the request fails: others wait for it, a person or the end of a run."""


@dataclass(frozen=True)
class ReevaluationRefusal:
    """An episode that cannot be scored again, and why."""

    episode_id: UUID
    task: str
    reason: str


def fail(session: Session, rescore_id: UUID, message: str) -> None:
    """There is no new verdict: the old one stands, and where there was none it is tried again or given up.

    Does nothing if somebody else ended it meanwhile.
    """
    row = repository.locked(session, rescore_id)
    if row is None or row.state != RescoreState.WAITING:
        return
    if not session.get_one(Evaluation, row.before_id).failure:
        row.state, row.message, row.ended_at = RescoreState.FAILED.value, message, workers.now(session)
        return
    run = runs.lock(session, session.get_one(Episode, row.episode_id).run_id)
    episode = episodes.lock(session, row.episode_id)
    if run is not None and episode is not None:
        retry_policy.not_repeated(session, row, run, episode, message)


def put_off(session: Session, rescore_id: UUID, message: str) -> None:
    """Its files cannot be had now: it lets others go first and is tried again later. In the end it fails.

    Does nothing if somebody else ended it meanwhile.
    """
    row = repository.locked(session, rescore_id)
    if row is None or row.state != RescoreState.WAITING:
        return
    now = workers.now(session)
    row.away_since = row.away_since or now
    if now - row.away_since > PATIENCE:
        row.away_since = None  # The next try, if there is one, waits as long.
        fail(session, rescore_id, message)
    else:
        row.available_at, row.message = now + PAUSE, message
