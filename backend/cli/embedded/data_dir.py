"""The data folder: made, checked, and held by one `deskarena up` at a time."""

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


class DataFolder:
    """A data folder in use by this process; a context manager.

    Two locks, both of the kernel's and so never stale. `lock` belongs to the supervisor and refuses a second one.
    `lock.children` is inherited by every guard: when a supervisor was killed with -9, the next one waits on it until
    nothing of the previous stack runs any more.

    Args:
        path: The folder; made if missing.

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
        """Write into the lock file who holds the folder and where it answers."""
        os.ftruncate(self._lock_fd, 0)
        os.pwrite(self._lock_fd, json.dumps({"pid": os.getpid(), "url": url}).encode(), 0)

    def _lock(self, name: str) -> int:
        descriptor = os.open(self.path / name, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StackError(self._in_use()) from None
        return descriptor

    def _wait_for_previous(self) -> int:
        deadline = time.monotonic() + PREVIOUS_SECONDS
        while True:
            try:
                return self._lock("lock.children")
            except StackError:
                if time.monotonic() > deadline:
                    raise StackError(
                        f"Processes of an earlier `deskarena up` on {self.path} are still running after "
                        f"{PREVIOUS_SECONDS:g} s. See {self.path / 'logs'}; end them, then try again."
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


def is_in_use(path: Path) -> bool:
    """Says whether a stack, or what is left of one, runs on the folder. A folder that never was one counts as used."""
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
    """Make the folder, private to its owner, and prove by writing that it can be written.

    Raises:
        StackError: If it cannot.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        raise StackError(
            f"The data folder {path} cannot be written: {error.strerror}. "
            "Choose another one with --data or DESKARENA_DATA_DIR, or change its owner. Nothing was started."
        ) from None
