"""Where keepers keep what must not outlive them, and how a later keeper removes what a killed one left.

Every keeper has a folder with a lock on it for as long as it lives. A folder without a lock is a dead keeper's.
"""

import contextlib
import os
import shutil
import signal
import time
import uuid
from pathlib import Path

from worker.local.cgroups import members, remove_tree
from worker.local.folders import lock, private_folder

TITLE = "deskarena-desktop"


def base_folder() -> Path:
    """The private folder of this user's keepers.

    Raises:
        PermissionError: somebody else made a folder of that name.
    """
    return private_folder("deskarena-keepers")


def title(keeper: str, desktop: str) -> str:
    """Argument zero of a desktop's bubblewrap processes, by which they are found again."""
    return f"{TITLE}:{keeper}:{desktop}"


class DesktopSupervisorDir:
    """A living keeper's own folder, locked until it is removed or the process ends."""

    def __init__(self) -> None:
        """Makes and locks a new one. Raises OSError."""
        self.name = uuid.uuid4().hex[:8]
        self.path = Path()
        self._handle: int | None = None
        while self._handle is None:
            # Another keeper that ends may remove the empty base folder, or one that starts sweep ours before it
            # is locked; then there is nothing to do but to make it again.
            self.path = base_folder() / f"keeper-{self.name}"
            try:
                self.path.mkdir(mode=0o700)
            except FileNotFoundError:
                continue
            self._handle = lock(self.path)

    def note_groups(self, folders: list[str]) -> None:
        """Writes down the control groups, for whoever sweeps after us."""
        (self.path / "groups").write_text("\n".join(folders))

    def remove(self) -> None:
        """Removes the folder, and the base folder with the last keeper; frees the lock."""
        shutil.rmtree(self.path)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()


def processes_of(keeper: str, desktop: str = "") -> list[int]:
    """Host process ids of the bubblewrap processes of a keeper's desktops, or of one of them."""
    prefix = f"{TITLE}:{keeper}:{desktop}"
    pids = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            first = _argument_zero(int(entry.name))
            if first == prefix or (not desktop and first.startswith(prefix)):
                pids.append(int(entry.name))
    return pids


def _argument_zero(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0", 1)[0].decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def kill(pids: list[int]) -> None:
    """Ends processes at once; those that are gone already are fine."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def sweep(base: Path, timeout: float = 5.0) -> int:
    """Removes processes, control groups and files of dead keepers. Returns how many keepers were swept.

    Several may sweep at once: each takes the dead keeper's lock first.
    """
    swept = 0
    for folder in base.glob("keeper-*"):
        handle = lock(folder)
        if handle is not None:
            try:
                _sweep_one(folder, timeout)
                swept += 1
            finally:
                os.close(handle)
    return swept


def _sweep_one(folder: Path, timeout: float) -> None:
    keeper = folder.name.removeprefix("keeper-")
    notes = folder / "groups"
    groups = [Path(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    deadline = time.monotonic() + timeout
    while left := _left_behind(keeper, groups):
        kill(left)
        if time.monotonic() > deadline:
            raise TimeoutError(f"processes {left} of a dead keeper do not end")
        time.sleep(0.005)
    for group in groups:
        remove_tree(group, timeout)
    shutil.rmtree(folder)


def _left_behind(keeper: str, groups: list[Path]) -> list[int]:
    pids = set(processes_of(keeper))
    for group in groups:
        pids.update(members(group))
    return sorted(pids)
