"""Whether a server does what it is asked: nothing that needs it is begun while it does not."""

import logging
import time
from collections.abc import Callable
from threading import Lock

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 8.0
logger = logging.getLogger(__name__)


class CircuitBreaker:
    """What the last requests have shown. Safe for threads."""

    def __init__(
        self,
        name: str,
        ask: Callable[[], object],
        away: type[Exception],
        no: tuple[type[Exception], ...] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Asks nothing yet.

        Args:
            name: of the server, for the log.
            ask: a request that leaves nothing behind, and needs what real ones need.
            away: it raises that where nobody answers, or later ones may be answered otherwise.
            no: and those where the answer is no; anything else is raised by `look`, too.
            now: monotonic clock.
        """
        self._name, self._ask, self._away, self._no, self._now = name, ask, away, no, now
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
                logger.warning("nothing is begun until %s does what it is asked: %s", self._name, why)
                self._pause, self._ask_at = FIRST_PAUSE, self._now() + FIRST_PAUSE
            self._why = why

    def look(self) -> None:
        """Asks whether it does again: after a second, then less and less often, every 8 s at least."""
        if not self._why or self._now() < self._ask_at:
            return
        try:
            self._ask()
        except self._away as error:
            with self._lock:
                self._why, self._pause = str(error), min(LONGEST_PAUSE, self._pause * 2)
                self._ask_at = self._now() + self._pause
            return
        except self._no as error:
            logger.info("%s answers again, and says no: %s", self._name, error)
        with self._lock:
            self._why = ""
