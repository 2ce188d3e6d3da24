"""Memory for virtual machines: free memory, minus what running machines may still use."""

from collections.abc import Callable, Iterable

from worker.local.limits import MIB

RESERVE = 512 * MIB
"""Bytes that stay free for everything else on the host."""


class MemoryBudget:
    """Admits machines. A clone starts with little memory of its own, and may come to use its maximum."""

    def __init__(self, most: int, free: Callable[[], int]) -> None:
        """Args: most: bytes for all machines together, 0 = the free memory; free: returns the host's free bytes."""
        self._most, self._free = most, free

    def admits(self, size: int, machines: Iterable[tuple[int, Callable[[], int]]]) -> bool:
        """Whether one more machine of that size may be started.

        Args:
            size: maximum bytes.
            machines: of each running machine: maximum bytes, and a function that returns the current usage. That is
                slow, so it is called only if it matters.
        """
        running = list(machines)
        total, spare = sum(most for most, _ in running), self._free() - size - RESERVE
        if self._most and total + size > self._most:
            return False
        return spare >= total or spare >= sum(max(0, most - used()) for most, used in running)
