"""How much memory virtual machines may take: what is free now, less what the running ones may still grow by."""

from collections.abc import Callable, Iterable

MIB = 2**20
RESERVE = 512 * MIB
"""Stays free for everything else on the host."""


class MemoryBudget:
    """Admits machines. A clone begins with little memory of its own, and may come to use all that it was given."""

    def __init__(self, most: int, free: Callable[[], int]) -> None:
        """Args: most: bytes for all machines together, 0 = what is free; free: bytes that the host has left."""
        self._most, self._free = most, free

    def admits(self, size: int, machines: Iterable[tuple[int, Callable[[], int]]]) -> bool:
        """Whether one more machine of that size may be started.

        Args:
            size: bytes that it may come to use.
            machines: of each running machine: bytes that it may come to use, and what tells those that it uses. That
                takes a while, so it is asked only where it matters.
        """
        running = list(machines)
        total, spare = sum(most for most, _ in running), self._free() - size - RESERVE
        if self._most and total + size > self._most:
            return False
        return spare >= total or spare >= sum(max(0, most - used()) for most, used in running)
