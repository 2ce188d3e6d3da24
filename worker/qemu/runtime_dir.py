"""Runtime folders of supervisors, and removal of those that killed ones left behind.

Each supervisor locks its folder while it lives. Machines' writes are in unlinked files, and QEMUs die with their
supervisor, so a killed one leaves only socket names, folders and the small files of a probe.
"""

import contextlib
import os
import shutil
import uuid
from pathlib import Path

from worker.local.folders import lock, private_folder

_TRIES = 20


def base_folder() -> Path:
    """Private parent folder for this user's supervisors.

    Raises:
        PermissionError: somebody else made a folder of that name.
    """
    folder = private_folder("deskarena-machines", closed=0o066)
    if os.getuid() == 0:
        # Machines run under numbers of their own, and each enters its own folder below.
        folder.chmod(0o711)
    return folder


class RuntimeDir:
    """A living supervisor's own folder, locked until it is removed or the process ends."""

    def __init__(self) -> None:
        """Creates and locks a new one, and removes those of dead supervisors. Raises OSError."""
        handle, tries = None, _TRIES
        while handle is None:
            tries -= 1
            # Another sweep may remove ours before it is locked: try again.
            try:
                self.path = base_folder() / f"s-{uuid.uuid4().hex[:8]}"
                self.path.mkdir(mode=0o711 if os.getuid() == 0 else 0o700)
                handle = lock(self.path)
            except FileNotFoundError:
                # Also if no temporary folder is writable.
                if not tries:
                    raise
        self._handle: int | None = handle
        sweep(self.path.parent)

    def remove(self) -> None:
        """Removes the folder, and the base folder if it is empty. Safe to call twice."""
        if self._handle is not None:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._handle)
            self._handle = None
            with contextlib.suppress(OSError):
                self.path.parent.rmdir()


def sweep(base: Path) -> int:
    """Removes the folders of dead supervisors. Returns their number."""
    swept = 0
    for folder in base.glob("s-*"):
        handle = lock(folder)
        if handle is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(handle)
            swept += 1
    return swept
