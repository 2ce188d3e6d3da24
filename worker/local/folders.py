"""Folders that belong to a living process: private, and locked for as long as it lives; a dead one's are not."""

import fcntl
import os
import tempfile
from pathlib import Path

_LONGEST = 48
"""Of the temporary directory's name: the path of a unix socket has at most 108 bytes."""


def private_folder(name: str, *, closed: int = 0o077) -> Path:
    """A folder of this user's below the temporary directory; below /tmp where that has a long name.

    Args:
        name: the user's number is added.
        closed: permissions that it must not have.

    Raises:
        PermissionError: somebody else made a folder of that name.
    """
    temporary = tempfile.gettempdir()
    folder = Path(temporary if len(temporary) <= _LONGEST else "/tmp") / f"{name}-{os.getuid()}"  # noqa: S108
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if state.st_uid != os.getuid() or state.st_mode & closed or folder.is_symlink():
        raise PermissionError(f"{folder} is not a private folder of ours: remove it, or set TMPDIR")
    return folder


def lock(folder: Path) -> int | None:
    """Locks a folder; None if a living process holds it, or it is gone. Closing what is returned frees it."""
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
