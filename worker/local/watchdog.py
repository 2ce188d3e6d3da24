"""Measures a desktop from outside, for hosts where no control group limits it.

All processes of a desktop descend from its first one: in a process namespace orphans are reparented to the namespace's
own process 1, never to the host's.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WRITABLE = ("tmp", "run", "dev/shm", "home/user")
_INODE_BYTES = 1024
"""Approximate kernel memory of one file in a tmpfs; many empty files use memory, too."""


@dataclass(frozen=True)
class UsageSample:
    """Usage of a desktop: bytes of memory, number of processes."""

    memory: int
    processes: int


def descendants(pid: int) -> list[int]:
    """`pid` and all its living descendants. Processes that end meanwhile are left out."""
    pids, queue = [], [pid]
    while queue:
        parent = queue.pop()
        pids.append(parent)
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                queue += [int(word) for word in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


def tasks(pid: int) -> int:
    """Number of processes and threads of the desktop whose first process is `pid`."""
    total = 0
    for descendant in descendants(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += sum(1 for _ in Path(f"/proc/{descendant}/task").iterdir())
    return total


def file_systems(root: Path) -> int:
    """Bytes in the desktop's writable file systems, including kernel memory per file."""
    total = 0
    for name in WRITABLE:
        state = os.statvfs(root / name)
        total += (state.f_blocks - state.f_bfree) * state.f_frsize + (state.f_files - state.f_ffree) * _INODE_BYTES
    return total


def quick_memory(pids: Sequence[int]) -> int:
    """Upper bound of the processes' own memory: shared pages are counted for each process."""
    keys = ("RssAnon:", "RssShmem:", "VmPTE:")
    return sum(_sum_of(f"/proc/{pid}/status", keys) for pid in pids)


def exact_memory(pids: Sequence[int]) -> int:
    """Like `quick_memory`, with shared pages counted once. Slower: the kernel walks every page table."""
    keys = ("Pss_Anon:", "Pss_Shmem:")
    total = 0
    for pid in pids:
        try:
            total += _sum_of(f"/proc/{pid}/smaps_rollup", keys)
        except PermissionError:
            # A process may hide its memory from us, but not from being counted.
            total += quick_memory([pid])
    return total


def _sum_of(path: str, keys: tuple[str, ...]) -> int:
    try:
        lines = Path(path).read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(keys))


def sample(pid: int, limit: int) -> UsageSample:
    """Measures the desktop whose first process is `pid`.

    The exact, slow measurement is done only if the upper bound exceeds `limit` (bytes).

    Raises:
        FileNotFoundError: It is gone.
    """
    pids = descendants(pid)
    files = file_systems(Path(f"/proc/{pid}/root"))
    memory = quick_memory(pids) + files
    if memory > limit:
        memory = exact_memory(pids) + files
    return UsageSample(memory, len(pids))


def host_memory() -> tuple[int, int]:
    """(available bytes without swapping, total bytes) of this host."""
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    return int(fields["MemAvailable"].split()[0]) * 1024, int(fields["MemTotal"].split()[0]) * 1024
