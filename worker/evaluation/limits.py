"""What a verdict may use. The evidence comes from a desktop that an agent had: it may be made to do harm."""

import gc
import os
import resource
import sys
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import EvaluatorFailed

OWN_UID = 60900
"""User number of the child when the worker is root: nobody's, and beside those of desktops."""


@dataclass(frozen=True)
class ChildLimits:
    """Limits of one child process.

    Attributes:
        wall: seconds until the worker ends it.
        cpu: seconds of processor time.
        memory: bytes of address space.
        file_size: bytes of one file.
        open_files: at once.
        processes: of the child's user; threads count, too.
    """

    wall: float = 120.0
    cpu: int = 60
    memory: int = 4 * 2**30
    file_size: int = 256 * 2**20
    open_files: int = 256
    processes: int = 64


def apply(limits: ChildLimits, uid: int | None) -> None:
    """Puts this process under the limits and, if it is root, makes it nobody. There is no way back.

    Args:
        limits: hard and soft limits alike.
        uid: the user to become; None stays who we are. The number of processes is limited only then: an ordinary
            user's own processes count to the same number.
    """
    os.umask(0o077)
    for name, value in (
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_size),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))
    if uid is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits.processes, limits.processes))
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)


def collect_seldom() -> None:
    """Lets Python look for unreachable cycles less often: the process ends with its verdict.

    A metric that holds a large file as objects spends up to a third of its time on the search otherwise. To be called
    when everything is imported; what is there then is never searched again.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def forbid_network() -> None:
    """Refuses every connection from Python code: all there is where no network namespace can be had."""

    def refuse(event: str, _arguments: tuple[Any, ...]) -> None:
        if event in {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"}:
            raise EvaluatorFailed(f"an evaluator may not use the network ({event})", code="network_not_allowed")

    sys.addaudithook(refuse)
