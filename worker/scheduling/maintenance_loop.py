"""Periodic maintenance that does not depend on Celery beat: lost attempts, roll-ups and deletions."""

import logging
import time

from backend.services.deletions import removal, retention
from backend.services.periodic_thread import PeriodicThread
from backend.services.results import rollup_jobs
from backend.services.runs import budgets
from backend.services.scheduling import maintenance
from worker.base.database import Database

SCHEDULE_SECONDS = 20.0
"""Interval at which the scheduler's statistics are updated."""
logger = logging.getLogger(__name__)


class MaintenanceLoop:
    """Three periodic threads, separate from the dispatcher's, so that taking work never waits for them.

    Roll-ups have their own, and so have deletions: those of a large run take longer than a lost worker's episodes may
    wait.

    Args:
        database: the database.
        every: interval in seconds.
        lease_seconds: age of a heartbeat after which its lease is revoked.
    """

    def __init__(self, database: Database, *, every: float, lease_seconds: float) -> None:
        self._database = database
        self._lease_seconds = lease_seconds
        self._schedule_at = 0.0
        self._threads = [
            PeriodicThread("chores", self._reap, every=every, broken="ending lost attempts raised"),
            PeriodicThread("roll-ups", self._roll_up, every=every, broken="updating roll-ups raised"),
            PeriodicThread("deletions", self._remove, every=every, broken="removing deleted rows raised"),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        """Stops; waits at most the given seconds for a running round."""
        for thread in self._threads:
            thread.stop(seconds)

    def _reap(self) -> None:
        for attempt_id in maintenance.tend(self._database.factory, lease_seconds=self._lease_seconds):
            logger.warning("attempt %s lost: its worker is gone", attempt_id)

    def _roll_up(self) -> None:
        try:
            rollup_jobs.renew_due(self._database.factory)
        finally:
            if time.monotonic() >= self._schedule_at:
                self._schedule_at = time.monotonic() + SCHEDULE_SECONDS
                maintenance.keep_schedule(self._database.factory)
                budgets.count_due(self._database.factory)

    def _remove(self) -> None:
        removal.remove_marked(self._database.factory)
        retention.apply_due(self._database.factory)
