"""A template's folder: a machine that was booted once and stopped, from which clones go on.

`memory` is the machine's memory as it lay in it, `state` its devices, `disk.qcow2` what it had written since the golden
image. `template.json` comes last. Nothing in the folder changes once it has its name.
"""

import os
from pathlib import Path

MEMORY, STATE, DISK, ABOUT = "memory", "state", "disk.qcow2", "template.json"


def blank_memory(place: Path, size: int) -> Path:
    """The file that becomes the memory of a master; holes until the guest writes."""
    file = place / MEMORY
    with file.open("wb") as memory:
        memory.truncate(size)
    return file


def settle(place: Path) -> None:
    """Makes what a master has left durable, and readable for clones, which run under numbers of their own.

    The folder itself lets nobody in: a clone gets the files as descriptors. QEMU 7 opens memory for writing even where
    it only copies on write, so that file must allow it.
    """
    for name, mode in ((MEMORY, 0o666), (STATE, 0o600), (DISK, 0o444)):
        file = place / name
        if os.getuid() == 0:
            os.chown(file, 0, 0)
        file.chmod(mode if os.getuid() == 0 else mode & 0o644)
        with file.open("rb") as written:
            os.fsync(written.fileno())
