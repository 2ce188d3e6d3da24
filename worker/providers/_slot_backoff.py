"""Exponential backoff per slot, so that a broken slot does not exhaust an episode's retries."""

import datetime as dt
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from backend.domain.ports.cluster import LONGEST_REST, SlotTrouble

SHORTEST, LONGEST = 10.0, LONGEST_REST


@dataclass(frozen=True)
class _Backoff:
    """Consecutive failures of a slot, the last reason, and until when it pauses by two clocks."""

    times: int
    trouble: SlotTrouble
    until: float


class SlotBackoff:
    """Backoff of all slots, by name. Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Args: now: monotonic clock."""
        self._now = now
        self._lock = Lock()
        self._rests: dict[str, _Backoff] = {}

    def failed(self, slot: str, reason: str) -> None:
        with self._lock:
            times = self._rests[slot].times + 1 if slot in self._rests else 1
            seconds = min(LONGEST, SHORTEST * 2.0 ** min(times - 1, 16))
            until = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)
            self._rests[slot] = _Backoff(times, SlotTrouble(reason, until), self._now() + seconds)

    def worked(self, slot: str) -> None:
        """Records a success, which resets the backoff."""
        with self._lock:
            self._rests.pop(slot, None)

    def resting(self) -> Mapping[str, SlotTrouble]:
        """Slots that pause now -> why."""
        with self._lock:
            return {slot: rest.trouble for slot, rest in self._rests.items() if self._now() < rest.until}
