"""Resource limits of a desktop."""

from dataclasses import asdict, dataclass
from typing import Any

MIB = 2**20


@dataclass(frozen=True)
class DesktopLimits:
    """Limits of one desktop. Sizes are bytes.

    The file systems together must stay below `memory`: they are in memory, and the kernel cannot free them by killing a
    process.

    Attributes:
        memory: all memory of the desktop, including its file systems.
        processes: processes and threads.
        home, tmp, run, shm: sizes of the writable file systems.
        file_size: maximum size of a file.
        open_files: per process.
        cpu_weight: 100 = a desktop counts like one ordinary process of the host.
    """

    memory: int = 2048 * MIB
    processes: int = 1024
    home: int = 512 * MIB
    tmp: int = 256 * MIB
    run: int = 32 * MIB
    shm: int = 256 * MIB
    file_size: int = 512 * MIB
    open_files: int = 4096
    cpu_weight: int = 100

    def __post_init__(self) -> None:
        if self.home + self.tmp + self.run + self.shm >= self.memory:
            raise ValueError("the file systems of a desktop must together be smaller than its memory limit")

    def to_json(self) -> dict[str, int]:
        """As a JSON object, for the supervisor's protocol."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "DesktopLimits":
        """The reverse of `to_json`."""
        return cls(**{key: int(number) for key, number in value.items()})


def prlimit_command(limits: DesktopLimits, *, data: bool) -> list[str]:
    """Command prefix that sets the limits which processes inherit.

    It runs inside the sandbox's user namespace, because the kernel counts RLIMIT_NPROC per user and namespace: set
    outside, it would count the host user's other processes, too.

    Args:
        limits: the desktop's.
        data: also limit each process's private memory, for hosts where no cgroup limits the desktop.
    """
    bounds = {
        "nproc": limits.processes,
        "nofile": limits.open_files,
        "fsize": limits.file_size,
        # One byte, not zero: with zero, a host that pipes core dumps to a program still starts it, as root, for every
        # crash inside.
        "core": 1,
        "msgqueue": 819200,
        "sigpending": 4096,
        "memlock": 64 * 1024,
    }
    if data:
        # Below the limit of the whole desktop: one greedy program then fails, and the desktop keeps running.
        bounds["data"] = limits.memory * 3 // 4
    return ["/usr/bin/prlimit", *(f"--{name}={value}:{value}" for name, value in bounds.items()), "--"]
