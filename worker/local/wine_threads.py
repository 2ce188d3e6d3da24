"""Suspended threads of a desktop's Windows programs, as the host's kernel shows them.

Wine suspends a thread by SIGUSR1, whose handler waits for Wine's server and blocks Wine's own signals meanwhile. Nobody
but a program inside can cause that (`SuspendThread`, a debugger): a process that the host stopped has another state.
"""

import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from worker.local.session_processes import is_of_the_session, status_of
from worker.local.watchdog import descendants

SECONDS = 0.5
"""Seconds that a thread must have been suspended: each call of Wine's server blocks the same signals for a moment."""
_LOOKS, _PATIENCE = 5, 4
_SERVER = "wineserver"
_SLEEPING = "S"


def count_suspended(pid: int, seconds: float = SECONDS) -> int:
    """Number of suspended threads of a session's programs.

    Args:
        pid: the desktop's first process.
        seconds: duration of the measurement; up to four times as long if Wine's server is busy.

    Returns:
        0 while Wine's server is stopped or never idle: threads that wait for its answer look the same.
    """
    threads: Mapping[int, int] | None = None
    start = since = time.monotonic()
    while (now := time.monotonic()) < start + _PATIENCE * seconds:
        look = _waiting(pid)
        if look is not None:
            since = now if threads is None else since
            threads = look if threads is None else dict(threads.items() & look.items())
            if not threads:
                return 0
            if now - since >= seconds:
                return len(threads)
        time.sleep(seconds / _LOOKS)
    return 0


def _waiting(pid: int) -> Mapping[int, int] | None:
    """How often each thread has slept that sleeps with Wine's signals blocked; None if Wine's server is not idle."""
    threads: dict[int, int] = {}
    for process in descendants(pid):
        state = status_of(Path(f"/proc/{process}/status"))
        if state.get("Name", "").startswith(_SERVER) and not state["State"].startswith(_SLEEPING):
            return None
        if is_of_the_session(state):
            threads.update(_waiting_threads(process))
    return threads


def _waiting_threads(process: int) -> Iterator[tuple[int, int]]:
    for task in _tasks(process):
        state = status_of(task / "status")
        if state.get("State", "").startswith(_SLEEPING) and _blocks_only_wines(int(state["SigBlk"], 16)):
            yield int(task.name), int(state["voluntary_ctxt_switches"])


def _blocks_only_wines(mask: int) -> bool:
    """Whether these are signals that Wine blocks; threads of libraries block all."""
    return bool(mask >> (signal.SIGUSR1 - 1) & 1) and not mask >> (signal.SIGTERM - 1) & 1


def _tasks(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []
