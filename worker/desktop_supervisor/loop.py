"""Event loop of the desktop supervisor: readable file descriptors and timers only."""

import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class _Timer:
    at: float
    action: Callable[[], None]


class Loop:
    """Runs callbacks one after another in one thread. Callbacks must not block."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[_Timer] = []

    def listen(self, fd: int, action: Callable[[], None]) -> None:
        """Calls `action` whenever `fd` is readable, until `forget`."""
        self._selector.register(fd, selectors.EVENT_READ, action)

    def forget(self, fd: int) -> None:
        """Stops listening to `fd`; no error if it was not."""
        if fd >= 0 and fd in self._selector.get_map():
            self._selector.unregister(fd)

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Calls `action` once, after `seconds`."""
        self._timers.append(_Timer(time.monotonic() + seconds, action))

    def turn(self, at_most: float) -> None:
        """Waits for events for at most `at_most` seconds, and handles them."""
        now = time.monotonic()
        soonest = min((timer.at for timer in self._timers), default=now + at_most)
        for key, _ in self._selector.select(max(0.0, min(soonest - now, at_most))):
            # An earlier callback of this round may have closed it, and its number may have been reused.
            if self._selector.get_map().get(key.fd) is key:
                key.data()
        self._run_due()

    def _run_due(self) -> None:
        now = time.monotonic()
        due = [timer for timer in self._timers if timer.at <= now]
        self._timers = [timer for timer in self._timers if timer.at > now]
        for timer in due:
            timer.action()
