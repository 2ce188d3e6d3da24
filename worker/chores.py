"""What has to be done now and then whether or not beat runs: ending what died, and roll-ups."""

import logging
import time
from collections.abc import Callable
from threading import Event, Thread

from backend.domain.errors import Unavailable
from backend.services import rollup_turns, upkeep
from worker.database import Database

SCHEDULE_SECONDS = 20.0
"""Between two looks at what the scheduler counts by."""
logger = logging.getLogger(__name__)


class Chores:
    """Two threads that look every few seconds, apart from the dispatcher's, so that taking work never waits for them.

    Roll-ups have their own: those of a large run take longer than a lost worker's episodes may wait.
    """

    def __init__(self, database: Database, *, every: float, lease_seconds: float) -> None:
        """Takes note.

        Args:
            database: the database.
            every: seconds between two looks.
            lease_seconds: age of a heartbeat from which on its lease is taken away.
        """
        self._database = database
        self._every = every
        self._lease_seconds = lease_seconds
        self._ended = Event()
        self._schedule_at = 0.0
        self._threads = [
            Thread(target=self._repeat, args=(self._reap,), name="chores", daemon=True),
            Thread(target=self._repeat, args=(self._roll_up,), name="roll-ups", daemon=True),
        ]

    def start(self) -> None:
        """Begins."""
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        """Looks no more; waits so long for a look that is under way."""
        self._ended.set()
        for thread in self._threads:
            thread.join(seconds)

    def _repeat(self, look: Callable[[], None]) -> None:
        while not self._ended.is_set():
            try:
                look()
            except Unavailable:
                pass  # The dispatcher says so already.
            except Exception:
                logger.exception("looking after what died or changed failed")
            self._ended.wait(self._every)

    def _reap(self) -> None:
        for attempt_id in upkeep.tend(self._database.factory, lease_seconds=self._lease_seconds):
            logger.warning("attempt %s was lost: its worker is gone", attempt_id)

    def _roll_up(self) -> None:
        try:
            rollup_turns.renew_due(self._database.factory)
        finally:
            if time.monotonic() >= self._schedule_at:
                self._schedule_at = time.monotonic() + SCHEDULE_SECONDS
                upkeep.keep_schedule(self._database.factory)
