"""The state of a process that a test watches, and this one's rights for a moment."""

import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


def has_ended(process: psutil.Process) -> bool:
    """True once it is gone or a zombie, also when it goes between two questions to the kernel."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def select_living(
    processes: Iterable[psutil.Process], condition: Callable[[psutil.Process], object]
) -> list[psutil.Process]:
    """The processes that meet a condition, without those that have ended before or while they are asked."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if condition(process):
                found.append(process)
    return found


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """The kernel refuses files of this process above a size, as a full disk would.

    Not as a fixture: pytest reports while fixtures are there, and its own output may go to a file.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def read_living(paths: Iterable[Path]) -> list[str]:
    """Texts of files of processes, without those of processes that have ended meanwhile."""
    texts = []
    for path in paths:
        with suppress(FileNotFoundError, ProcessLookupError):
            texts.append(path.read_text())
    return texts
