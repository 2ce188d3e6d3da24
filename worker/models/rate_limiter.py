"""Limits concurrent and per-minute requests to an endpoint over all attempts of a worker, and counts waiting time."""

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


class WaitTimer:
    """Seconds for which one attempt has waited for APIs. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._done = 0.0
        self._calls: dict[int, float] = {}
        self._limited: dict[int, float] = {}
        self._number = 0
        self._lock = Lock()

    def seconds(self) -> float:
        """Total, including the current wait."""
        with self._lock:
            now = self._now()
            return self._done + sum(now - since for since in self._calls.values())

    @contextmanager
    def limited(self) -> Iterator[Callable[[], None]]:
        """Context: a call waits for a rate limit; ends early when the yielded function is called."""
        with self._lock:
            self._number += 1
            number = self._number
            self._limited[number] = self._now()
        try:
            yield lambda: self._let_through(number)
        finally:
            self._let_through(number)

    def limited_seconds(self) -> float:
        """How long one of its calls has been waiting for a rate limit; 0 if none is."""
        with self._lock:
            now = self._now()
            return max((now - since for since in self._limited.values()), default=0.0)

    def _let_through(self, number: int) -> None:
        with self._lock:
            self._limited.pop(number, None)

    def begin(self) -> int:
        """A call starts; it waits until it has a response."""
        with self._lock:
            self._number += 1
            self._calls[self._number] = self._now()
            return self._number

    def end(self, number: int, answered: float) -> float:
        """It has ended; for `answered` of its seconds the model worked. Returns the waiting time."""
        with self._lock:
            wait_seconds = max(0.0, self._now() - self._calls.pop(number) - answered)
            self._done += wait_seconds
            return wait_seconds
