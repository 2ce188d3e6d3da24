"""Data folder: created, checked, and locked by one `deskarena up` at a time."""

import fcntl
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Self

from backend.cli.errors import StackError

PREVIOUS_SECONDS = 45.0
LOOK_AGAIN_SECONDS = 0.05
SCHEMA_NOTE, SCHEMA_HISTORY = "schema", 2


class DataFolder:
    """Data folder in use by this process; a context manager.

    Two kernel locks, which are never stale. `lock` belongs to the supervisor and excludes a second one. `lock.children`
    is inherited by every guard: after a supervisor was killed, the next one waits for it until all processes of the
    previous stack have ended.

    Args:
        path: The folder; created if missing.

    Raises:
        StackError: On entering, if the folder cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.children_fd = -1
        self._lock_fd = -1

    def __enter__(self) -> Self:
        make_writable(self.path)
        self._lock_fd = self._lock("lock")
        try:
            self.children_fd = self._wait_for_previous()
        except BaseException:
            os.close(self._lock_fd)
            raise
        self.announce("")
        return self

    def __exit__(self, *error: object) -> None:
        os.ftruncate(self._lock_fd, 0)
        os.close(self.children_fd)
        os.close(self._lock_fd)

    def announce(self, url: str) -> None:
        """Writes the process and its address to the lock file."""
        os.ftruncate(self._lock_fd, 0)
        os.pwrite(self._lock_fd, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)

    def _lock(self, name: str) -> int:
        descriptor = os.open(self.path / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StackError(self._in_use(), code="data_folder_in_use") from None
        return descriptor

    def _wait_for_previous(self) -> int:
        deadline = time.monotonic() + PREVIOUS_SECONDS
        while True:
            try:
                return self._lock("lock.children")
            except StackError:
                if time.monotonic() > deadline:
                    raise StackError(
                        f"Processes of an earlier `deskarena up` on {self.path} still run after "
                        f"{PREVIOUS_SECONDS:g} s. See {self.path / 'logs'}; end them, then try again.",
                        code="data_folder_in_use",
                    ) from None
                time.sleep(LOOK_AGAIN_SECONDS)

    def _in_use(self) -> str:
        try:
            holder = json.loads((self.path / "lock").read_text())
        except ValueError:
            holder = {}
        who = f"process {holder['pid']}" if "pid" in holder else "another process"
        where = f" at {holder['url']}" if holder.get("url") else ""
        return (
            f"{self.path} is already in use by {who}{where}. "
            "Use that one, stop it, or choose another data folder with --data."
        )


def mark_schema(path: Path) -> None:
    """Records in a new data folder which migration history its schema has. Releases before 0.2 have no record."""
    (path / SCHEMA_NOTE).write_text(f"{SCHEMA_HISTORY}\n")


def refuse_old_schema(path: Path) -> None:
    """Looks whether a release before 0.2 made the database in a data folder, without starting it or writing there.

    Raises:
        StackError: If so.
    """
    from backend.db.compatibility import OldSchema

    folder = path.expanduser().absolute()
    if (folder / "postgres").is_dir() and not (folder / SCHEMA_NOTE).exists():
        raise StackError(OldSchema(f"The data folder {folder}").message, code=OldSchema.code)


def is_in_use(path: Path) -> bool:
    """Whether a stack or its left-over processes use the folder. True for a folder that never was a data folder."""
    for name in ("lock", "lock.children"):
        try:
            descriptor = os.open(path / name, os.O_RDWR)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
    return False


def make_writable(path: Path) -> None:
    """Creates the folder, readable by its owner only, and writes a file to prove that it is writable.

    Raises:
        StackError: It is not writable.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        raise StackError(
            f"The data folder {path} cannot be written: {error.strerror}. "
            "Choose another one with --data or DESKARENA_DATA_DIR, or change its owner. Nothing was started.",
            code="data_folder_not_writable",
        ) from None
