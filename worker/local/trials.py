"""Records which expensive tests succeeded since the host was started, so that not every worker repeats them."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from worker.local.folders import private_folder

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def once(name: str, parts: tuple[str, ...], trial: Callable[[], str]) -> str:
    """Result of a test, which is skipped if it succeeded before.

    Failures are not recorded: the machine may have been busy.

    Args:
        name: of the test.
        parts: inputs that invalidate the record when they change.
        trial: returns what went wrong; empty on success.
    """
    note = _note(name, parts)
    if note is not None and note.exists():
        return ""
    problem = trial()
    if not problem and note is not None:
        with suppress(OSError):
            note.touch()
    return problem


def _note(name: str, parts: tuple[str, ...]) -> Path | None:
    """The file that exists after a success; None if nothing can be recorded."""
    try:
        key = hashlib.sha256("\0".join((_BOOT.read_text(), *parts)).encode()).hexdigest()
        return private_folder("deskarena-trials") / f"{name}-{key[:32]}"
    except OSError:
        return None


def version_of(*files: Path) -> tuple[str, ...]:
    """Text that changes with the files."""
    return tuple(
        f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files if os.access(file, os.R_OK)
    )
