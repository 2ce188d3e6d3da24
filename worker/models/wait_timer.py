"""Counts how long one attempt has waited for model APIs, and says what it waits for now."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from backend.domain.model.model_wait import ModelWait


@dataclass
class _Call:
    """A call without a reply. Times by the timer's clock."""

    since: float
    endpoint: str
    model: str
    failures: int = 0
    words: str = ""
    retry_at: float | None = None


class WaitTimer:
    """Seconds for which one attempt has waited for APIs. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._done = 0.0
        self._calls: dict[int, _Call] = {}
        self._limited: dict[int, float] = {}
        self._number = 0
        self._lock = Lock()

    def seconds(self) -> float:
        """Total, including the current wait."""
        with self._lock:
            now = self._now()
            return self._done + sum(now - call.since for call in self._calls.values())

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
            return self._limited_seconds()

    def _limited_seconds(self) -> float:
        now = self._now()
        return max((now - since for since in self._limited.values()), default=0.0)

    def _let_through(self, number: int) -> None:
        with self._lock:
            self._limited.pop(number, None)

    def begin(self, endpoint: str = "", model: str = "") -> int:
        """A call starts; it waits until it has a response."""
        with self._lock:
            self._number += 1
            self._calls[self._number] = _Call(self._now(), endpoint[:100], model[:200])
            return self._number

    def failed(self, number: int, message: str, pause: float) -> None:
        """A request of the call has failed with these words; the next one is sent after that many seconds."""
        with self._lock:
            call = self._calls[number]
            call.failures, call.words, call.retry_at = call.failures + 1, message[:500], self._now() + pause

    def resting(self, number: int, message: str, seconds: float) -> None:
        """Others of the model were asked to wait with these words: the call is sent after that many seconds at best."""
        with self._lock:
            call = self._calls[number]
            call.words, call.retry_at = message[:500] or call.words, self._now() + seconds

    def asking(self, number: int) -> None:
        """A request of the call is sent, or waits for its turn."""
        with self._lock:
            self._calls[number].retry_at = None

    def end(self, number: int, answered: float) -> float:
        """It has ended; for `answered` of its seconds the model worked. Returns the waiting time."""
        with self._lock:
            wait_seconds = max(0.0, self._now() - self._calls.pop(number).since - answered)
            self._done += wait_seconds
            return wait_seconds

    def longest(self, least: float) -> ModelWait | None:
        """The call that has waited longest; None if none has for that many seconds."""
        with self._lock:
            if not self._calls:
                return None
            now = self._now()
            number, call = min(self._calls.items(), key=lambda item: item[1].since)
            if now - call.since < least:
                return None
            return ModelWait(
                call=number,
                endpoint=call.endpoint,
                model=call.model,
                failures=call.failures,
                seconds=now - call.since,
                retry_seconds=None if call.retry_at is None else max(0.0, call.retry_at - now),
                words=call.words,
                limited=self._limited_seconds() >= least,
            )
