"""Periodic maintenance by workers as they poll, and by beat. Safe to run concurrently."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import runs
from backend.db.repositories.scheduling import scheduler
from backend.db.session import SessionFactory, unit_of_work
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts import artifacts
from backend.services.capacity import model_usage
from backend.services.lifecycle import lease_reaper
from backend.services.runs import duration_estimates

T = TypeVar("T")
JUMP = 0.5
"""Seconds by which two clocks may differ over a while."""
logger = logging.getLogger(__name__)


class ClockWatch:
    """Whether the database's clock went back since the last check, by this machine's monotonic clock."""

    def __init__(self) -> None:
        self._last: tuple[float, datetime] | None = None

    def went_back(self, now: datetime) -> bool:
        """Whether it went back, given `now`. True before the first check, because it is unknown."""
        if self._last is None:
            return True
        tick, at = self._last
        return (now - at).total_seconds() < time.monotonic() - tick - JUMP

    def mark_handled(self, now: datetime) -> None:
        """Records that the consequences have been handled."""
        self._last = (time.monotonic(), now)


_clock = ClockWatch()


def tend(factory: SessionFactory, *, lease_seconds: float | None = None) -> list[UUID]:
    """Ends what fell silent. Roll-ups are separate (`rollup_jobs.renew_due`): a large one takes longer than a lease.

    Returns:
        The attempts lost with their workers.
    """
    _in_one(factory, scheduler.fill_needs)
    return _in_one(factory, lambda session: lease_reaper.reap(session, lease_seconds=lease_seconds))


def keep_schedule(factory: SessionFactory, clock: ClockWatch = _clock) -> None:
    """Recomputes the scheduler's counters and estimated durations. Neither urgent nor often needed."""
    for run_id in _in_one(factory, scheduler.miscounted_runs):
        if _in_one(factory, partial(_recount, run_id=run_id)):
            logger.warning("run %s: its running episodes were recounted", run_id)
    now = _in_one(factory, workers.now)
    if clock.went_back(now) and (number := _in_one(factory, scheduler.bring_back)):
        logger.warning("the database's clock went back: %d earliest starts of episodes were corrected", number)
    clock.mark_handled(now)
    _in_one(factory, model_usage.prune)
    for _ in range(duration_estimates.AT_ONCE):
        turn = _in_one(factory, duration_estimates.take_turn)
        if turn is None:
            return
        _in_one(factory, partial(duration_estimates.renew, run_id=turn))


def _recount(session: Session, run_id: UUID) -> bool:
    """Recounts under the run's lock, so that concurrent writes do not look like errors. True if there was an error."""
    return runs.lock(session, run_id) is not None and scheduler.recount(session, run_id)


def sweep(factory: SessionFactory, store: ArtifactStore, grace: timedelta = timedelta(days=1)) -> int:
    """Removes unreferenced artifacts and unknown bytes; called by beat.

    Returns:
        Number of removed artifacts.
    """
    removed = _in_one(factory, lambda session: artifacts.collect_garbage(session, store, grace))
    return removed + _in_one(factory, lambda session: artifacts.collect_orphans(session, store, time.time(), grace))


def _in_one(factory: SessionFactory, work: Callable[[Session], T]) -> T:
    with unit_of_work(factory) as session:
        return work(session)
