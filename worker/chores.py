"""What has to be done now and then whether or not beat runs: roll-ups that are out of date."""

import logging
from threading import Event, Thread

from backend.domain.errors import Unavailable
from backend.services import rollups
from worker.database import Database

logger = logging.getLogger(__name__)


class Chores:
    """A thread that looks every few seconds. Apart from the dispatcher's, so that taking work never waits for it."""

    def __init__(self, database: Database, seconds: float) -> None:
        """Args: database; seconds: between two looks."""
        self._database = database
        self._seconds = seconds
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
        while not self._ended.wait(self._seconds):
            try:
                self._database.once(rollups.refresh_stale)
            except Unavailable:
                continue  # The dispatcher says so already.
            except Exception:
                logger.exception("roll-ups could not be refreshed")
