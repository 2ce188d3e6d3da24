"""A template's folder: a machine that was booted once and stopped, from which clones go on.

`memory` is the machine's memory as it lay in it, `state` its devices, `disk.qcow2` what it had written since the golden
image, `golden.json` what that image's disk was. `template.json` comes last, and without it there is no template.
Nothing else in the folder changes once it has its name.
"""

import json
import os
from pathlib import Path

MEMORY, STATE, DISK, ABOUT = "memory", "state", "disk.qcow2", "template.json"
GOLDEN = "golden.json"


def blank_memory(place: Path, size: int) -> Path:
    """The file that becomes the memory of a master; holes until the guest writes."""
    file = place / MEMORY
    with file.open("wb") as memory:
        memory.truncate(size)
    return file


def note_disk(place: Path, fd: int) -> None:
    """Notes which golden disk the master begins with. Args: fd: it, open."""
    (place / GOLDEN).write_text(json.dumps(_disk(fd)) + "\n")


def goes_with(place: Path, fd: int) -> bool:
    """Whether a disk is the one that the master began with. Args: fd: it, open."""
    try:
        noted = json.loads((place / GOLDEN).read_text())
    except FileNotFoundError:
        return True  # It was made by a release that noted nothing.
    return bool(noted == _disk(fd))


def _disk(fd: int) -> dict[str, int]:
    """Of a file that is never written to. Its inode's number is no part: another pod's mount may have another one."""
    info = os.fstat(fd)
    return {"size": info.st_size, "mtime_ns": info.st_mtime_ns}


def give_up(place: Path) -> None:
    """Makes it none: nobody finds it any more, and whoever needs it makes it anew. Clones that run go on."""
    (place / ABOUT).unlink(missing_ok=True)


def settle(place: Path) -> list[Path]:
    """Makes what a master has left readable for clones, which run under numbers of their own. Returns its files.

    They are to be written to the disk yet, which takes as long as that takes.

    The folder itself lets nobody in: a clone gets the files as descriptors. QEMU 7 opens memory for writing even where
    it only copies on write, so that file must allow it.
    """
    modes = {place / MEMORY: 0o666, place / STATE: 0o600, place / DISK: 0o444}
    for file, mode in modes.items():
        if os.getuid() == 0:
            os.chown(file, 0, 0)
        file.chmod(mode if os.getuid() == 0 else mode & 0o644)
    return list(modes)
