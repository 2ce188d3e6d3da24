"""What has to be done now and then whether or not beat runs: ending what died, and roll-ups."""

import logging
from threading import Event, Thread

from backend.domain.errors import Unavailable
from backend.services import upkeep
from worker.database import Database

logger = logging.getLogger(__name__)


class Chores:
    """A thread that looks every few seconds. Apart from the dispatcher's, so that taking work never waits for it."""

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
        self._thread = Thread(target=self._run, name="chores", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self, seconds: float = 1.0) -> None:
        """Looks no more; waits so long for a look that is under way."""
        self._ended.set()
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                for attempt_id in upkeep.tend(self._database.factory, lease_seconds=self._lease_seconds):
                    logger.warning("attempt %s was lost: its worker is gone", attempt_id)
            except Unavailable:
                pass  # The dispatcher says so already.
            except Exception:
                logger.exception("looking after what died failed")
            self._ended.wait(self._every)
