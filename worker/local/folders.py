"""Private folders that are locked while their process lives; without a lock the process is dead."""

import fcntl
import os
import tempfile
from pathlib import Path

LONGEST = 48
"""Maximum length of the temporary folder's path: a unix socket's path has at most 108 bytes."""


def private_folder(name: str, *, closed: int = 0o077) -> Path:
    """A folder of this user below the temporary folder; below /tmp if that has a long path.

    Args:
        name: the user's id is appended.
        closed: permission bits that it must not have.

    Raises:
        PermissionError: A folder of that name belongs to somebody else.
    """
    temporary = tempfile.gettempdir()
    folder = Path(temporary if len(temporary) <= LONGEST else "/tmp") / f"{name}-{os.getuid()}"  # noqa: S108
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or state.st_mode & closed or folder.is_symlink():
        raise PermissionError(f"{folder} is not a private folder of this user. Remove it, or set TMPDIR.")
    return folder


def lock(folder: Path) -> int | None:
    """Locks a folder; None if a living process holds it, or it is gone. Closing the result releases it."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.is_dir():
            return handle
    except BlockingIOError:
        pass
    os.close(handle)
    return None
