"""Resource limits of an evaluation. The evidence may be malicious: an agent controlled the desktop."""

import gc
import os
import resource
import sys
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import EvaluatorFailed

OWN_UID = 60900
"""User id of the child if the worker is root: unused, and outside the range of desktops."""


@dataclass(frozen=True)
class ChildLimits:
    """Limits of one child process.

    Attributes:
        wall: seconds until the worker kills it.
        cpu: CPU seconds.
        memory: bytes of address space.
        file_size: bytes of one file.
        open_files: maximum open files.
        processes: processes and threads of the child's user.
    """

    wall: float = 120.0
    cpu: int = 60
    memory: int = 4 * 2**30
    file_size: int = 256 * 2**20
    open_files: int = 256
    processes: int = 64


def apply(limits: ChildLimits, uid: int | None) -> None:
    """Applies the limits to this process and, if it is root, changes to an unprivileged user. Irreversible.

    Args:
        limits: set as hard and soft limits; of processor time the soft one ends the process by a signal of its own.
        uid: user to change to; None keeps the current one. The number of processes is limited only with a change: an
            ordinary user's own processes count towards the same limit.
    """
    os.umask(0o077)
    for name, value in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 1))
    if uid is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def collect_seldom() -> None:
    """Makes Python's garbage collector run less often: the process ends with its verdict.

    A metric with a large file in memory otherwise spends up to a third of its time on it. Call it after all imports;
    objects that exist then are never scanned again.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def forbid_network() -> None:
    """Refuses every connection from Python code: the only protection where no network namespace is available."""

    def refuse(event: str, _arguments: tuple[Any, ...]) -> None:
        if event in {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"}:
            raise EvaluatorFailed(f"evaluators may not use the network ({event})", code="network_not_allowed")

    sys.addaudithook(refuse)
