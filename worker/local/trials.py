"""Which costly trials went well since this host was started, so that each is made once and not by every worker."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from worker.local.folders import private_folder

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def once(name: str, parts: tuple[str, ...], trial: Callable[[], str]) -> str:
    """What a trial says, which is made unless it went well before.

    What went wrong is not noted: it may have been a busy moment.

    Args:
        name: of the trial.
        parts: the answer may be another where one of them is.
        trial: returns what went wrong; empty where all is well.
    """
    note = _note(name, parts)
    if note is not None and note.exists():
        return ""
    why = trial()
    if not why and note is not None:
        with suppress(OSError):
            note.touch()
    return why


def _note(name: str, parts: tuple[str, ...]) -> Path | None:
    """The file that is there where it went well; None where nothing can be noted."""
    try:
        key = hashlib.sha256("\0".join((_BOOT.read_text(), *parts)).encode()).hexdigest()
        return private_folder("deskarena-trials") / f"{name}-{key[:32]}"
    except OSError:
        return None


def version_of(*files: Path) -> tuple[str, ...]:
    """What changes when one of the files does."""
    return tuple(
        f"{file} {file.stat().st_mtime_ns} {file.stat().st_size}" for file in files if os.access(file, os.R_OK)
    )
