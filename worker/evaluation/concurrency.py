"""How many verdicts are looked for at once: as many as the worker's memory bears."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from backend.domain.machines.slots import KEPT

LOOK_SECONDS = 0.1


def at_once(memory: int, one: int) -> int:
    """How many children may work at once; one in any case.

    Args:
        memory: bytes that the worker and all that it starts may use; what the service itself takes is left out.
        one: bytes that one child may use.
    """
    return max(1, (memory - KEPT.memory) // one)


class FairSemaphore:
    """So many at once, first come first served. Thread-safe.

    Attributes:
        number: of those whose turn it is, at most.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._line: list[object] = []  # In the order of coming; it is the turn of the first `number`.
        self._lock = Lock()

    @contextmanager
    def turn(self, pause: Callable[[float], None]) -> Iterator[None]:
        """Waits for a turn and keeps it. Who stops waiting leaves the line.

        Args:
            pause: waits that many seconds, or raises why it must stop.
        """
        mine = object()
        with self._lock:
            self._line.append(mine)
        try:
            while not self._is_turn_of(mine):
                pause(LOOK_SECONDS)
            yield
        finally:
            with self._lock:
                self._line.remove(mine)

    def _is_turn_of(self, one: object) -> bool:
        with self._lock:
            return one in self._line[: self.number]
