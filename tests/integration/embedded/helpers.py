"""Waiting on conditions, and what a process left behind."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import psutil

from backend.cli.embedded.process_spawn import ChildSpec
from tests.processes import has_ended
from tests.waiting import seconds_until

T = TypeVar("T")


def until(condition: Callable[[], bool], what: str, seconds: float = 20.0) -> float:
    """Waits until the condition holds; gives how long it took."""
    return seconds_until(condition, seconds, what=what)


def gone(pid: int) -> bool:
    """True once the process has ended, even if nobody has asked for its exit code yet."""
    try:
        return has_ended(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return True


def family(pid: int) -> list[int]:
    """A process and everything that descends from it."""
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def those_there(pids: Iterable[int], ask: Callable[[psutil.Process], T]) -> list[T]:
    """Each process's facts about itself, but for those that have ended: one that serves a connection ends with it."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(ask(psutil.Process(pid)))
    return found


def python(code: str, log: Path, **more: object) -> ChildSpec:
    """A child that runs Python code."""
    given = {"name": "child", "env": dict(os.environ), **more}
    return ChildSpec(argv=(sys.executable, "-c", code), log=log, **given)  # type: ignore[arg-type]
