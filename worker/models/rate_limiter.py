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


@dataclass(frozen=True)
class Rest:
    """A model's API asked for no requests until then; `words` are its own."""

    until: float
    words: str = ""


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
    _rests: dict[str, Rest] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def turn(
        self, pause: Callable[[float], None], model: str = "", on_rest: Callable[[str, float], None] | None = None
    ) -> Iterator[Turn]:
        """Waits for a permit and holds it.

        Args:
            pause: waits for the given seconds, or raises if the attempt must stop.
            model: which one is asked.
            on_rest: is told the API's words and the seconds that are left, while the model rests.
        """
        while (turn := self._try_enter(model)) is None:
            if on_rest and (rest := self._rests.get(model)) and (remaining := rest.until - self.now()) > 0:
                on_rest(rest.words, remaining)
            pause(LOOK_SECONDS)
        try:
            yield turn
        finally:
            with self._lock:
                self._under_way -= 1

    def rest(self, seconds: float, model: str = "", words: str = "") -> None:
        """Stops all requests of a model for that long, at most a minute: the API asked for it.

        Vendors limit each model by itself.
        """
        with self._lock:
            until, before = self.now() + min(seconds, MOST_REST), self._rests.get(model)
            if before is None or until > before.until:
                self._rests[model] = Rest(until, words)

    def _try_enter(self, model: str) -> Turn | None:
        with self._lock:
            now = self.now()
            while self._last and self._last[0].at <= now - MINUTE:
                self._last.popleft()
            rest = self._rests.get(model)
            busy = self._under_way >= self.at_once or (rest is not None and now < rest.until)
            many = self.requests is not None and len(self._last) >= self.requests
            much = self.tokens is not None and sum(turn.tokens for turn in self._last) >= self.tokens
            if busy or many or much:
                return None
            # Until its tokens are known, a request counts like the previous one.
            new_turn = Turn(now, self._last[-1].tokens if self._last else 0)
            self._last.append(new_turn)
            self._under_way += 1
            return new_turn
