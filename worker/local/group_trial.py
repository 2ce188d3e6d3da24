"""Tests whether a control group limits anything: a small program exceeds a limit.

A limit's files may exist and be writable although nothing is limited: in a container whose host does the accounting
elsewhere, or on an emulated Linux kernel.
"""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from worker.local.limits import MIB

V2 = 2
_SECONDS = 5.0
_LIMIT, _USED = 16 * MIB, 64 * MIB
_WEIGHT = 50
_ENTER = "import mmap, os, sys; open(sys.argv[1], 'w').write('0'); "
# A page that was never written takes no memory.
_EAT = _ENTER + f"m = mmap.mmap(-1, {_USED}); [m.__setitem__(i, 1) for i in range(0, {_USED}, 4096)]"
_FORK = _ENTER + "os.fork() or os._exit(0)"


def try_limit(controller: str, group: Path, version: int) -> None:
    """Tests one limit in an empty group, which cannot be used afterwards.

    Args:
        controller: `memory`, `pids` or `cpu`.
        group: its folder.
        version: of control groups, 1 or 2.

    Raises:
        OSError: It is not enforced; the message says what happened.
    """
    _TRIALS[controller](group, version)


def _try_memory(group: Path, version: int) -> None:
    """A program that exceeds its group's memory is killed by the kernel, which counts that."""
    limit, swap = ("memory.max", "memory.swap.max") if version == V2 else (
        "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
    )  # fmt: skip
    _write(group / limit, _LIMIT)
    if (group / swap).exists():
        _write(group / swap, 0 if version == V2 else _LIMIT)
    status = _run(group, _EAT)
    if status != -signal.SIGKILL:
        raise OSError(f"a program with a limit of {_LIMIT // MIB} MiB took {_USED // MIB} MiB (exit status {status})")
    events = group / ("memory.events" if version == V2 else "memory.oom_control")
    if not _count(events, "oom_kill"):
        raise OSError("the kernel does not count processes killed for memory")


def _try_processes(group: Path, _version: int) -> None:
    """A program with a limit of one process cannot start another, and the refusal is counted."""
    _write(group / "pids.max", 1)
    if not _run(group, _FORK):
        raise OSError("a program with a limit of 1 process started another")
    if not _count(group / "pids.events", "max"):
        raise OSError("the kernel does not count refused processes")


def _try_weight(group: Path, version: int) -> None:
    """A weight is stored as written; its effect shows only on a busy machine."""
    file = group / ("cpu.weight" if version == V2 else "cpu.shares")
    _write(file, _WEIGHT)
    if file.read_text().strip() != str(_WEIGHT):
        raise OSError(f"{file.name} does not keep its value")


_TRIALS: dict[str, Callable[[Path, int], None]] = {
    "memory": _try_memory,
    "pids": _try_processes,
    "cpu": _try_weight,
}


def _run(group: Path, code: str) -> int:
    """Exit status of Python code that first enters the group. Raises OSError if it does not end, or cannot enter."""
    command = [sys.executable, "-I", "-S", "-c", code, str(group / "cgroup.procs")]
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"a program in it did not end within {_SECONDS:g} s") from error
    if "PermissionError" in result.stderr:
        raise PermissionError(f"no program can enter it: {result.stderr.strip().splitlines()[-1]}")
    return result.returncode


def _write(path: Path, value: int) -> None:
    if not path.exists():
        raise FileNotFoundError(f"{path.name} does not exist")
    path.write_text(str(value))


def _count(path: Path, key: str) -> int:
    lines = [line.split() for line in path.read_text().splitlines()]
    return next((int(line[1]) for line in lines if line[:1] == [key]), 0)
