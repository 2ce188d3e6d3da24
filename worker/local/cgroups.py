"""Memory, process and CPU limits by control groups, version 1 or 2, where this process may create them.

A desktop supervisor creates one group under its own, and below that one per desktop. Nothing else is changed, except
that version 2 may need a controller enabled for the parent's children.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from worker.local.group_trial import V2, try_limit
from worker.local.limits import DesktopLimits

CONTROLLERS = ("memory", "pids", "cpu")
_PROBE_SECONDS = 2.0
"""Seconds until the kernel releases a group whose last process has just ended."""


@dataclass(frozen=True)
class CgroupParent:
    """Parent folder for new groups of a controller, and its version (1 or 2)."""

    version: int
    parent: Path


def _unescape(text: str) -> str:
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def places(mountinfo: str, membership: str) -> dict[str, list[CgroupParent]]:
    """Candidate parents per controller, from the contents of /proc/self/mountinfo and /proc/self/cgroup.

    Version 1 has one folder per controller: that of this process. In version 2 a group with processes cannot enable
    controllers for children, so the groups above it are candidates, too, nearest first.
    """
    own = {}
    for line in membership.splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(",") if names else [""]:
            own[name] = path
    parents: dict[str, list[CgroupParent]] = {name: [] for name in CONTROLLERS}
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, _, options) = before.split(" "), after.split(" ", 2)
        root, target = _unescape(fields[3]), Path(_unescape(fields[4]))
        if kind == "cgroup":
            for name in set(options.split(",")) & set(CONTROLLERS) & set(own):
                parents[name].append(CgroupParent(1, _under(target, root, own[name])))
        elif kind == "cgroup2" and "" in own:
            nearest = _under(target, root, own[""])
            chain = [nearest, *(parent for parent in nearest.parents if parent == target or target in parent.parents)]
            for name in CONTROLLERS:
                parents[name] += [CgroupParent(V2, path) for path in chain]
    return parents


def _under(target: Path, root: str, own: str) -> Path:
    """Folder of group `own`, given that the mount at `target` shows the hierarchy below `root`."""
    relative = own.removeprefix(root) if root != "/" and own.startswith(root) else own
    return target / relative.lstrip("/")


def _write(path: Path, value: str | int) -> None:
    path.write_text(str(value))


def _number(path: Path, key: str = "") -> int:
    """A number in a control file; with `key`, the one after that word. 0 if there is no such line."""
    text = path.read_text()
    if not key:
        return int(text)
    return next((int(line.split()[1]) for line in text.splitlines() if line.split()[:1] == [key]), 0)


@dataclass
class DesktopCgroups:
    """One desktop's groups: controller to (version, folder)."""

    limits: DesktopLimits
    folders: dict[str, tuple[int, Path]] = field(default_factory=dict)

    def entrances(self) -> list[str]:
        """Files to which a process writes its id to enter."""
        return sorted({str(folder / "cgroup.procs") for _, folder in self.folders.values()})

    def memory(self) -> int:
        """Bytes used now."""
        version, folder = self.folders["memory"]
        return _number(folder / ("memory.current" if version == V2 else "memory.usage_in_bytes"))

    def peak_memory(self) -> int:
        """Maximum bytes used; 0 if the kernel does not report it (version 2 before Linux 5.19)."""
        version, folder = self.folders["memory"]
        file = folder / ("memory.peak" if version == V2 else "memory.max_usage_in_bytes")
        return _number(file) if file.exists() else 0

    def memory_kills(self) -> int:
        """Number of processes that the kernel killed because of the memory limit."""
        version, folder = self.folders["memory"]
        return _number(folder / ("memory.events" if version == V2 else "memory.oom_control"), "oom_kill")

    def processes_refused(self) -> int:
        """Number of refused new processes."""
        return _number(self.folders["pids"][1] / "pids.events", "max")

    def remove(self) -> bool:
        """Removes the folders; False while the kernel still uses one. Can be repeated."""
        failed = False
        for _, folder in set(self.folders.values()):
            failed |= not _remove_folder(folder)
        return not failed


def _remove_folder(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class Cgroups:
    """The supervisor's own groups.

    Attributes:
        bases: controllers whose limits work here -> version and folder.
        why_not: controllers that exist but do not limit -> why. Empty if none may be created.
    """

    def __init__(
        self,
        name: str,
        parents: dict[str, list[CgroupParent]],
        trial: Callable[[str, Path, int], None] = try_limit,
    ) -> None:
        """Creates the supervisor's group for every available controller.

        Args:
            name: unique on this machine.
            parents: candidates from `places`.
            trial: exceeds a limit; raises OSError if it is not enforced.
        """
        self.name, self._trial = name, trial
        self.bases: dict[str, tuple[int, Path]] = {}
        self.why_not: dict[str, str] = {}
        for controller, candidates in parents.items():
            base = next(filter(None, (self._try(controller, group) for group in candidates)), None)
            if base is not None:
                self.bases[controller] = base
                self.why_not.pop(controller, None)

    def _try(self, controller: str, group: CgroupParent) -> tuple[int, Path] | None:
        """Creates the supervisor's group under `group`, if this controller's limits work there."""
        folder = group.parent / self.name
        existed = folder.is_dir()
        try:
            if group.version == V2:
                self._switch_on(group.parent, controller)
            folder.mkdir(exist_ok=True)
            if group.version == V2:
                self._switch_on(folder, controller)
            self._probe(folder, controller, group.version)
        except OSError:
            if not existed:
                _remove_folder(folder)
            return None
        return group.version, folder

    @staticmethod
    def _switch_on(folder: Path, controller: str) -> None:
        file = folder / "cgroup.subtree_control"
        if controller not in file.read_text().split():
            _write(file, f"+{controller}")

    def _probe(self, folder: Path, controller: str, version: int) -> None:
        """Exceeds the limit of a child group. Raises OSError."""
        child = folder / "probe"
        child.mkdir(exist_ok=True)
        try:
            self._trial(controller, child, version)
        except OSError as error:
            self.why_not[controller] = str(error)
            raise
        finally:
            remove_tree(child, _PROBE_SECONDS)

    def versions(self) -> dict[str, str]:
        """Controller -> `cgroup v1` or `cgroup v2`, for those in use."""
        return {controller: f"cgroup v{version}" for controller, (version, _) in self.bases.items()}

    def folders(self) -> list[str]:
        """The supervisor's own groups, for a later sweep."""
        return sorted({str(folder) for _, folder in self.bases.values()})

    def create(self, name: str, limits: DesktopLimits) -> DesktopCgroups:
        """Creates a desktop's groups with their limits. Raises OSError."""
        group = DesktopCgroups(limits)
        for controller, (version, base) in self.bases.items():
            folder = base / name
            folder.mkdir(exist_ok=True)
            group.folders[controller] = (version, folder)
            _SETTERS[controller](folder, version, limits)
        return group

    def remove(self, timeout: float = 2.0) -> bool:
        """Removes the supervisor's own groups, which must be empty. False if the kernel still uses one."""
        removed = [remove_tree(Path(folder), timeout) for folder in self.folders()]
        return all(removed)


def _set_memory(folder: Path, version: int, limits: DesktopLimits) -> None:
    if version == V2:
        _write(folder / "memory.max", limits.memory)
        if (folder / "memory.swap.max").exists():
            _write(folder / "memory.swap.max", 0)
        return
    _write(folder / "memory.limit_in_bytes", limits.memory)
    if (folder / "memory.memsw.limit_in_bytes").exists():
        _write(folder / "memory.memsw.limit_in_bytes", limits.memory)


def _set_processes(folder: Path, _version: int, limits: DesktopLimits) -> None:
    _write(folder / "pids.max", limits.processes)


def _set_cpu(folder: Path, version: int, limits: DesktopLimits) -> None:
    if version == V2:
        _write(folder / "cpu.weight", limits.cpu_weight)
    else:
        _write(folder / "cpu.shares", max(2, limits.cpu_weight * 1024 // 100))


_SETTERS: dict[str, Callable[[Path, int, DesktopLimits], None]] = {
    "memory": _set_memory,
    "pids": _set_processes,
    "cpu": _set_cpu,
}


def here() -> dict[str, list[CgroupParent]]:
    """Candidates of this process."""
    return places(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())


def members(folder: Path) -> list[int]:
    """Process ids in a group and below; none if it is gone."""
    pids: list[int] = []
    for file in (folder / "cgroup.procs", *folder.glob("*/cgroup.procs")):
        try:
            pids += [int(word) for word in file.read_text().split()]
        except FileNotFoundError:
            continue
    return pids


def remove_tree(folder: Path, timeout: float) -> bool:
    """Removes a supervisor's group with the groups below, waiting for the kernel to release them."""
    deadline = time.monotonic() + timeout
    while folder.is_dir():
        for child in [*(subgroup for subgroup in folder.glob("*/") if subgroup.is_dir()), folder]:
            _remove_folder(child)
        if time.monotonic() > deadline:
            return False
        if folder.is_dir():
            time.sleep(0.005)
    return True
