"""Starts the desktop's programs from one thread that gave up the right to signal anything but them.

The kernel's Landlock (6.12 and later) hands the restriction to every program that is started there, and all of them
share it, so that they can end each other, but neither guest server nor X server. The sandbox's filter protects both by
their small process ids; this protects the guest server's later threads, too, by whose ids it could also be reached.
"""

import ctypes
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_SCOPE_SIGNAL = 1 << 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def give_up_signals() -> bool:
    """Restricts this thread and its children; False if the kernel cannot."""
    rules = struct.pack("=QQQ", 0, 0, _SCOPE_SIGNAL)
    ruleset = _LIBC.syscall(_CREATE_RULESET, rules, len(rules), 0)
    if ruleset < 0:
        return False
    try:
        return bool(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        _LIBC.close(ruleset)


class Spawner:
    """Runs calls that start programs; in its own thread if the session is protected."""

    def __init__(self, *, protected: bool) -> None:
        """Its thread starts with the first call."""
        self._pool = ThreadPoolExecutor(1, "spawner", give_up_signals) if protected else None

    def run(self, start: Callable[[], T]) -> T:
        """Result of the call, which should only start a program. Raises what it raises."""
        return start() if self._pool is None else self._pool.submit(start).result()
