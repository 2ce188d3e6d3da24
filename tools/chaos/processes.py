"""The machine's processes, as far as they are the stack's."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import psutil

from worker.desktop_supervisor.folders import TITLE

DESKTOP_SUPERVISOR = "worker.desktop_supervisor"
EVALUATORS = ("worker.evaluation.child", "worker/evaluation/child", "deskarena-evidence-")
X_SERVER = "Xvfb"


@dataclass(frozen=True)
class ProcessInfo:
    """A process at one moment.

    Attributes:
        words: its command line.
        age: seconds since it was started.
    """

    pid: int
    parent: int
    name: str
    words: tuple[str, ...]
    age: float

    def __str__(self) -> str:
        return f"{self.pid} ({' '.join(self.words)[:120] or self.name}, {self.age:.0f} s old)"


def observe(process: psutil.Process, moment: float) -> ProcessInfo | None:
    """Facts about a process; None if it is gone or a zombie."""
    try:
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            words = tuple(process.cmdline())
            return ProcessInfo(process.pid, process.ppid(), process.name(), words, moment - process.create_time())
    except psutil.Error:
        return None


def below(pid: int, moment: float) -> list[ProcessInfo]:
    """Everything that descends from a process, itself excepted."""
    try:
        children = psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [
        process_info for process_info in (observe(process, moment) for process in children) if process_info is not None
    ]


def is_desktop(process: ProcessInfo) -> bool:
    """Whether it is the first process of a desktop's sandbox; its own child has the same title."""
    return bool(process.words) and process.words[0].startswith(f"{TITLE}:")


def desktops(processes: list[ProcessInfo]) -> dict[str, float]:
    """The desktops among these, by desktop supervisor and name, with the seconds since each was made."""
    ages: dict[str, float] = {}
    for process in processes:
        if is_desktop(process):
            name = process.words[0].removeprefix(f"{TITLE}:")
            ages[name] = max(process.age, ages.get(name, 0.0))
    return ages


def strangers(folder: Path, supervisors: Collection[str], family: set[int], moment: float) -> list[ProcessInfo]:
    """Processes that have to do with the folder and do not descend from us.

    They are known by their words or their environment; desktops, which have neither, by their supervisor's name.
    """
    mark, matches = str(folder), []
    titles = tuple(f"{TITLE}:{supervisor}:" for supervisor in supervisors)
    for process in psutil.process_iter():
        if process.pid in family:
            continue
        try:
            words = process.cmdline()
            known = bool(words) and words[0].startswith(titles)
            known = known or mark in process.environ().get("TMPDIR", "") or any(mark in word for word in words)
        except psutil.Error:
            continue
        match = observe(process, moment) if known else None
        if match is not None:
            matches.append(match)
    return matches


def signal_all(pids: list[int], number: int) -> int:
    """Sends a signal to each that still lives; returns how many there were."""
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, number)
            sent += 1
        except ProcessLookupError:
            continue
    return sent
