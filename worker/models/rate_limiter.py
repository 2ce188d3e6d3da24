"""Limits concurrent and per-minute requests to an endpoint over all attempts of a worker."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

LOOK_SECONDS = 0.2
MINUTE = 60.0
MOST_REST = 60.0


@dataclass(eq=False)
class Turn:
    """A request that may be sent. `tokens` is set once known."""

    at: float
    tokens: int = 0


@dataclass
class RateLimiter:
    """Rate limiter of one endpoint. Thread-safe.

    Attributes:
        at_once: maximum concurrent requests.
        requests, tokens: maximum per minute; None = no limit.
        refused: by model, the fields that its API does not accept; learnt from its responses.
    """

    at_once: int
    requests: int | None = None
    tokens: int | None = None
    now: Callable[[], float] = time.monotonic
    refused: dict[str, set[str]] = field(default_factory=dict)
    _under_way: int = 0
    _last: deque[Turn] = field(default_factory=deque)
    _rests_until: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def turn(self, pause: Callable[[float], None]) -> Iterator[Turn]:
        """Waits for a permit and holds it.

        Args:
            pause: waits for the given seconds, or raises if the attempt must stop.
        """
        while (turn := self._try_enter()) is None:
            pause(LOOK_SECONDS)
        try:
            yield turn
        finally:
            with self._lock:
                self._under_way -= 1

    def rest(self, seconds: float) -> None:
        """Stops all requests for that long, at most a minute: the API asked for it."""
        with self._lock:
            self._rests_until = max(self._rests_until, self.now() + min(seconds, MOST_REST))

    def _try_enter(self) -> Turn | None:
        with self._lock:
            now = self.now()
            while self._last and self._last[0].at <= now - MINUTE:
                self._last.popleft()
            busy = self._under_way >= self.at_once or now < self._rests_until
            many = self.requests is not None and len(self._last) >= self.requests
            much = self.tokens is not None and sum(turn.tokens for turn in self._last) >= self.tokens
            if busy or many or much:
                return None
            # Until its tokens are known, a request counts like the previous one.
            new_turn = Turn(now, self._last[-1].tokens if self._last else 0)
            self._last.append(new_turn)
            self._under_way += 1
            return new_turn
