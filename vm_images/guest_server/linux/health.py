"""Health of a Linux desktop: disks, memory, what covers the screen, package managers, and running programs."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from guest_server.memory import free_memory
from guest_server.protocol.health_facts import Disk, HealthFacts, Process

if TYPE_CHECKING:
    from guest_server.linux.x11 import XClient

RESTART_FILES = (Path("/run/reboot-required"), Path("/var/run/reboot-required"))
# Names as in the kernel, which truncates them to 15 characters.
PACKAGE_MANAGERS = frozenset({"apt", "apt-get", "aptitude", "dpkg", "packagekitd", "unattended-upgr", "update-manager"})
LOCKERS = frozenset({"i3lock", "slock", "swaylock", "xlock", "xsecurelock", "xtrlock", "kscreenlocker_g"})
SERVICES = ("at-spi", "dbus-", "dconf-service", "gvfs", "goa-", "pipewire", "wireplumber", "xdg-", "(sd-pam)")
"""Prefixes of programs that a session bus starts on demand: they belong to no task."""
_OURS = "guest_server."
_SAVER_ON = 1
_PROC = Path("/proc")
_MEMBERSHIP, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
_EVENTS = {"memory": ("memory.events", "oom_kill"), "processes": ("pids.events", "max")}
"""Control file and key of each limit's counter."""


@dataclass(frozen=True)
class RunningProcess:
    """A process in /proc; `born` in ticks since boot distinguishes it from a later one with the same id."""

    pid: int
    uid: int
    born: int
    name: str
    words: Sequence[str]


def running(proc: Path = _PROC) -> Iterator[RunningProcess]:
    """Every live process; those that end meanwhile are left out, as are kernel threads and zombies."""
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text("utf-8", "replace")
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").decode("utf-8", "replace").split("\0")
            uid = folder.stat().st_uid
        except (FileNotFoundError, ProcessLookupError):
            continue
        head, _, tail = stat.rpartition(")")
        fields = tail.split()
        if fields[0] not in {"Z", "X"} and words != [""]:
            yield RunningProcess(int(folder.name), uid, int(fields[19]), head.partition("(")[2], words)


def of_a_task(processes: Iterable[RunningProcess], before: frozenset[tuple[int, int]], uid: int) -> list[Process]:
    """Programs of the desktop's user that started later, without those that the session itself starts on demand.

    Args:
        processes: running processes.
        before: (pid, born) of processes when the desktop was ready.
        uid: the desktop's user.
    """
    return [
        Process(process.pid, process.name)
        for process in processes
        if process.uid == uid
        and (process.pid, process.born) not in before
        and not process.name.startswith(SERVICES)
        and not any(word.startswith(_OURS) for word in process.words)
    ]


def pending(processes: Iterable[RunningProcess], restart_files: Sequence[Path] = RESTART_FILES) -> list[str]:
    """Running or due updates and restarts, as text."""
    due = ["a restart is due after an update"] if any(file.exists() for file in restart_files) else []
    managers = sorted({process.name for process in processes if process.name in PACKAGE_MANAGERS})
    return [*due, *(f"{name} is running" for name in managers)]


def locker(processes: Iterable[RunningProcess]) -> str:
    """The program that has locked the screen, empty if none."""
    return next((process.name for process in processes if process.name in LOCKERS), "")


def disks(*folders: Path) -> list[Disk]:
    """Free space in each folder; each file system is reported once. Raises OSError."""
    by_device: dict[int, Disk] = {}
    for folder in folders:
        usage = shutil.disk_usage(folder)
        by_device.setdefault(folder.stat().st_dev, Disk(str(folder), usage.free, usage.total))
    return list(by_device.values())


def limits_reached(membership: Path = _MEMBERSHIP, groups: Path = _GROUPS) -> dict[str, int]:
    """How often a limit was reached of this process's control group (version 2) or of those above it.

    Args:
        membership: the kernel's file with the group's path.
        groups: mount point of the groups.
    """
    try:
        lines = membership.read_text().splitlines()
    except FileNotFoundError:
        return {}
    path = next((line.removeprefix("0::") for line in lines if line.startswith("0::")), None)
    if path is None:
        return {}
    own = groups / path.strip("/")
    chain = [own, *(parent for parent in own.parents if groups in parent.parents)]
    return {name: max(_count(folder / file, key) for folder in chain) for name, (file, key) in _EVENTS.items()}


def _count(file: Path, key: str) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [key]), 0)


class LinuxHealth:
    """Health of an X11 session."""

    def __init__(self, home: Path, client: "XClient") -> None:
        self._home = home
        # Now: it writes a test file, which a full disk would refuse later.
        self._temporary = Path(tempfile.gettempdir())
        self._client = client
        self._before: frozenset[tuple[int, int]] = frozenset()

    def settled(self) -> None:
        self._before = frozenset((process.pid, process.born) for process in running())

    def limits_reached(self) -> Mapping[str, int]:
        return limits_reached()

    def disks(self) -> Sequence[Disk]:
        return disks(self._home, self._temporary)

    def facts(self) -> HealthFacts:
        processes = list(running())
        return HealthFacts(
            disks=self.disks(),
            memory_free=free_memory(),
            # X11 has no scale: a program's pixel is a screen pixel.
            scale=1.0,
            locked=locker(processes) or self._saver(),
            pending=pending(processes),
            processes=of_a_task(processes, self._before, os.getuid()),
        )

    def _saver(self) -> str:
        with self._client as client:
            if not client.display.has_extension("MIT-SCREEN-SAVER"):
                return ""
            return "screen saver" if client.root.screensaver_query_info().state == _SAVER_ON else ""
