"""Circuit breaker: starts no work that needs a server until a probe succeeds."""

import logging
import time
from collections.abc import Callable
from threading import Lock

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 8.0
logger = logging.getLogger(__name__)


class CircuitBreaker:
    """Closed while the server works; open after a failure, until a probe succeeds. Thread-safe."""

    def __init__(
        self,
        name: str,
        ask: Callable[[], object],
        away: type[Exception],
        no: tuple[type[Exception], ...] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Creates a closed one.

        Args:
            name: of the server, for the log.
            ask: the probe: a request without side effects that needs what real requests need.
            away: raised by the probe while the server is unavailable.
            no: raised by the probe if the server works and refuses; any other exception passes through `look`.
            now: monotonic clock.
        """
        self._name, self._ask, self._away, self._no, self._now = name, ask, away, no, now
        self._lock = Lock()
        self._why, self._pause, self._ask_at = "", FIRST_PAUSE, 0.0

    @property
    def why_not(self) -> str:
        """Why it is open; empty while it is closed."""
        return self._why

    def failed(self, reason: str) -> None:
        """Opens it after a failed request that may succeed later."""
        with self._lock:
            if not self._why:
                logger.warning("no new work starts until %s recovers: %s", self._name, reason)
                self._pause, self._ask_at = FIRST_PAUSE, self._now() + FIRST_PAUSE
            self._why = reason

    def look(self) -> None:
        """Probes the server if it is time: a second after the failure, then with growing pauses of at most 8 s."""
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
            logger.info("%s responds again, but rejects requests: %s", self._name, error)
        with self._lock:
            self._why = ""
