"""Whether a cluster's API server does what it is asked: nothing is begun in a cluster while it does not."""

import logging
import time
from collections.abc import Callable
from threading import Lock

from worker.k8s.cluster import ClusterError, Unavailable

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 8.0
logger = logging.getLogger(__name__)


class Answers:
    """What the last requests have shown. Safe for threads."""

    def __init__(self, ask: Callable[[], object], now: Callable[[], float] = time.monotonic) -> None:
        """Asks nothing yet.

        Args:
            ask: a request that changes nothing, and needs what making a desktop needs. Raises ClusterError.
            now: monotonic clock.
        """
        self._ask, self._now = ask, now
        self._lock = Lock()
        self._why, self._pause, self._ask_at = "", FIRST_PAUSE, 0.0

    @property
    def why_not(self) -> str:
        """Why it does not, in words; empty while it does, as far as we know."""
        return self._why

    def failed(self, why: str) -> None:
        """It did not do something that was asked of it, and might do it later."""
        with self._lock:
            if not self._why:
                logger.warning("the cluster is asked for no more desktops until it answers: %s", why)
                self._pause, self._ask_at = FIRST_PAUSE, self._now() + FIRST_PAUSE
            self._why = why

    def look(self) -> None:
        """Asks whether it does again: after a second, then less and less often, every 8 s at least. Raises nothing."""
        if not self._why or self._now() < self._ask_at:
            return
        try:
            self._ask()
        except Unavailable as error:
            with self._lock:
                self._why, self._pause = error.message, min(LONGEST_PAUSE, self._pause * 2)
                self._ask_at = self._now() + self._pause
            return
        except ClusterError as error:
            logger.info("the cluster answers again, and says no: %s", error.message)
        with self._lock:
            self._why = ""
