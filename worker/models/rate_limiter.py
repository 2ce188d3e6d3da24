"""How many requests an endpoint gets at once and per minute, over all attempts of a worker; and who waits how long."""

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
    """One request that was let through. `tokens` is set once they are known."""

    at: float
    tokens: int = 0


@dataclass
class RateLimiter:
    """Lets requests to one endpoint through. Thread-safe.

    Attributes:
        at_once: requests under way at most.
        requests, tokens: within any minute at most; None = no limit.
        refused: by model, the fields that its API does not take; learnt from its answers.
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
        """Waits for a turn and keeps it.

        Args:
            pause: waits that many seconds, or raises why the attempt must stop.
        """
        while (turn := self._try_enter()) is None:
            pause(LOOK_SECONDS)
        try:
            yield turn
        finally:
            with self._lock:
                self._under_way -= 1

    def rest(self, seconds: float) -> None:
        """Nobody is let through for that long, a minute at most: the API asked for it."""
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
            # Until its own count is known a request is reckoned like the one before it.
            new_turn = Turn(now, self._last[-1].tokens if self._last else 0)
            self._last.append(new_turn)
            self._under_way += 1
            return new_turn


class WaitTimer:
    """Seconds that one attempt has waited for APIs. Any thread may ask."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._done = 0.0
        self._begun: dict[int, float] = {}
        self._limited: dict[int, float] = {}
        self._number = 0
        self._lock = Lock()

    def seconds(self) -> float:
        """All of it, what is under way included."""
        with self._lock:
            now = self._now()
            return self._done + sum(now - since for since in self._begun.values())

    @contextmanager
    def limited(self) -> Iterator[Callable[[], None]]:
        """While this lasts a call waits at the API's limits; or until what it gives is called."""
        with self._lock:
            self._number += 1
            number = self._number
            self._limited[number] = self._now()
        try:
            yield lambda: self._let_through(number)
        finally:
            self._let_through(number)

    def limited_seconds(self) -> float:
        """How long one of its calls has been waiting at the API's limits; 0 if none does."""
        with self._lock:
            now = self._now()
            return max((now - since for since in self._limited.values()), default=0.0)

    def _let_through(self, number: int) -> None:
        with self._lock:
            self._limited.pop(number, None)

    def begin(self) -> int:
        """A call begins; as long as it has no answer, it waits."""
        with self._lock:
            self._number += 1
            self._begun[self._number] = self._now()
            return self._number

    def end(self, number: int, answered: float) -> float:
        """It has ended; `answered` of its seconds the model needed for its answer. Returns what was waited."""
        with self._lock:
            held_seconds = max(0.0, self._now() - self._begun.pop(number) - answered)
            self._done += held_seconds
            return held_seconds
