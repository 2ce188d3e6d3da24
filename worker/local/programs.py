"""Commands that a desktop can run."""

import os
from collections.abc import Sequence
from pathlib import Path

from worker.local.layout import ENVIRONMENT, HIDDEN, SUDO


def programs(path: Sequence[str] = tuple(ENVIRONMENT["PATH"].split(":"))) -> tuple[str, ...]:
    """Sorted names of the commands that a desktop can run.

    A command counts only if it is where desktops see it: some are links to /opt or /usr/local. `sudo` is covered.
    """
    names: set[str] = set()
    for folder in path:
        if Path(folder).is_dir():
            names.update(entry.name for entry in os.scandir(folder) if _visible(entry.path))
    return tuple(sorted(names - {SUDO.name}))


def _visible(path: str) -> bool:
    real = os.path.realpath(path)
    inside = real.startswith(("/usr/", "/bin/")) and not real.startswith(tuple(f"{folder}/" for folder in HIDDEN))
    return inside and os.path.isfile(real) and os.access(real, os.X_OK)  # noqa: PTH113 - a thousand of them
