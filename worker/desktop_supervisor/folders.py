"""Folders of desktop supervisors, and removal of what a killed one left behind.

Every supervisor locks its folder while it lives. A folder without a lock belongs to a dead one.
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
    """Private parent folder for this user's supervisors.

    Raises:
        PermissionError: A folder of that name belongs to somebody else.
    """
    return private_folder("deskarena-supervisors")


def title(supervisor: str, desktop: str) -> str:
    """argv[0] of a desktop's bubblewrap processes, by which they can be found."""
    return f"{TITLE}:{supervisor}:{desktop}"


class DesktopSupervisorDir:
    """Folder of a living supervisor, locked until it is removed or the process ends."""

    def __init__(self) -> None:
        """Creates and locks a new one. Raises OSError."""
        self.name = uuid.uuid4().hex[:8]
        self.path = Path()
        self._handle: int | None = None
        while self._handle is None:
            # Another supervisor that ends may remove the empty base folder, or one that starts may sweep ours before it
            # is locked: try again.
            self.path = base_folder() / f"supervisor-{self.name}"
            try:
                self.path.mkdir(mode=0o700)
            except FileNotFoundError:
                continue
            self._handle = lock(self.path)

    def note_groups(self, folders: list[str]) -> None:
        """Stores the control groups for a later sweep."""
        (self.path / "groups").write_text("\n".join(folders))

    def remove(self) -> None:
        """Removes the folder, and the base folder if it is empty; releases the lock."""
        shutil.rmtree(self.path)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()


def processes_of(supervisor: str, desktop: str = "") -> list[int]:
    """Host process ids of the bubblewrap processes of a supervisor's desktops, or of one of them."""
    prefix = f"{TITLE}:{supervisor}:{desktop}"
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
    """Kills processes; ones that are gone already are ignored."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def sweep(base: Path, timeout: float = 5.0) -> int:
    """Removes processes, control groups and files of dead supervisors. Returns their number.

    Several may sweep in parallel: each takes the dead supervisor's lock first.
    """
    swept = 0
    for folder in base.glob("supervisor-*"):
        handle = lock(folder)
        if handle is not None:
            try:
                _sweep_one(folder, timeout)
                swept += 1
            finally:
                os.close(handle)
    return swept


def _sweep_one(folder: Path, timeout: float) -> None:
    supervisor = folder.name.removeprefix("supervisor-")
    notes = folder / "groups"
    groups = [Path(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    deadline = time.monotonic() + timeout
    while survivors := _left_behind(supervisor, groups):
        kill(survivors)
        if time.monotonic() > deadline:
            raise TimeoutError(f"processes {survivors} of a dead desktop supervisor do not end")
        time.sleep(0.005)
    for group in groups:
        remove_tree(group, timeout)
    shutil.rmtree(folder)


def _left_behind(supervisor: str, groups: list[Path]) -> list[int]:
    pids = set(processes_of(supervisor))
    for group in groups:
        pids.update(members(group))
    return sorted(pids)
