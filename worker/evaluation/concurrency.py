"""Limits how many verdicts are computed in parallel, by the worker's memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from backend.domain.machines.slots import SERVICE_NEEDS

LOOK_SECONDS = 0.1


def max_parallel(memory: int, per_evaluation: int) -> int:
    """Maximum number of parallel children; at least one.

    Args:
        memory: bytes that the worker and its children may use; the service's own share is subtracted.
        per_evaluation: bytes that one child may use.
    """
    return max(1, (memory - SERVICE_NEEDS.memory) // per_evaluation)


class FairSemaphore:
    """Semaphore that serves waiters in order. Thread-safe.

    Attributes:
        number: of permits.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._line: list[object] = []  # Waiters in order; the first `number` hold a permit.
        self._lock = Lock()

    @contextmanager
    def turn(self, pause: Callable[[float], None]) -> Iterator[None]:
        """Waits for a permit and holds it. A waiter that stops waiting leaves the queue.

        Args:
            pause: waits for the given seconds, or raises if the caller must stop.
        """
        ticket = object()
        with self._lock:
            self._line.append(ticket)
        try:
            while not self._is_turn_of(ticket):
                pause(LOOK_SECONDS)
            yield
        finally:
            with self._lock:
                self._line.remove(ticket)

    def _is_turn_of(self, ticket: object) -> bool:
        with self._lock:
            return ticket in self._line[: self.number]
