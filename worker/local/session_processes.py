"""Reasons why a local desktop does not answer, from the host's kernel; no program inside can fake them."""

import math
from collections.abc import Mapping
from pathlib import Path

from worker.local.seccomp import PROTECTED_PIDS
from worker.local.watchdog import descendants

_FEW_FILES = 16
"""Files below the limit; some may have been closed just now."""


def runnable_threads(pid: int) -> int:
    """Number of the desktop's threads that compute, or wait for a processor, at this moment."""
    return sum(
        _is_runnable(task)
        for descendant in descendants(pid)
        for task in Path(f"/proc/{descendant}/task").glob("*/stat")
    )


def _is_runnable(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "R"
    except (FileNotFoundError, ProcessLookupError):
        return False


def full_of_files(pid: int) -> int:
    """Open files of a program of the session that may open no more; 0 if there is none.

    Args:
        pid: the desktop's first process.
    """
    session = [
        descendant
        for descendant in descendants(pid)
        if is_of_the_session(status_of(Path(f"/proc/{descendant}/status")))
    ]
    return next((files for pid in session if (files := _open_files(pid)) >= _most_files(pid) - _FEW_FILES), 0)


def _open_files(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def _most_files(pid: int) -> float:
    """How many files a process may have open; infinite if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    except OSError:
        return math.inf
    (line,) = (line for line in lines if line.startswith("Max open files"))
    soft = line.split()[3]
    return math.inf if soft == "unlimited" else int(soft)


def is_of_the_session(status: Mapping[str, str]) -> bool:
    """Whether a process belongs to the session, not to programs that run in it."""
    return bool(status) and int(status["NStgid"].split()[-1]) <= PROTECTED_PIDS


def status_of(path: Path) -> dict[str, str]:
    """Fields of a status file of the kernel; none if the process or thread has ended."""
    try:
        lines = path.read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
