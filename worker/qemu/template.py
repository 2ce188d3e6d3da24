"""Folder of a template: a machine that was booted once and stopped, from which clones continue.

`memory` is the machine's memory, `state` its devices, `disk.qcow2` its writes since the golden image, `golden.json`
identifies that image's disk. `template.json` is written last, and without it there is no template. Afterwards nothing
in the folder changes.
"""

import json
import os
from pathlib import Path

MEMORY, STATE, DISK, ABOUT = "memory", "state", "disk.qcow2", "template.json"
GOLDEN = "golden.json"


def blank_memory(folder: Path, size: int) -> Path:
    """File for the memory of a master; sparse until the guest writes."""
    file = folder / MEMORY
    with file.open("wb") as memory:
        memory.truncate(size)
    return file


def note_disk(folder: Path, fd: int) -> None:
    """Records the golden disk that the master starts with. Args: fd: the open disk."""
    (folder / GOLDEN).write_text(json.dumps(_disk(fd)) + "\n")


def goes_with(folder: Path, fd: int) -> bool:
    """Whether a disk is the one that the master started with. Args: fd: the open disk."""
    try:
        noted = json.loads((folder / GOLDEN).read_text())
    except FileNotFoundError:
        return True  # It was made by a release that noted nothing.
    return bool(noted == _disk(fd))


def _disk(fd: int) -> dict[str, int]:
    """Identity of a file that is never written. Without its inode number: another pod's mount may have another one."""
    info = os.fstat(fd)
    return {"size": info.st_size, "mtime_ns": info.st_mtime_ns}


def give_up(folder: Path) -> None:
    """Invalidates it: it is no longer found, and is created again when needed. Running clones continue."""
    (folder / ABOUT).unlink(missing_ok=True)


def settle(folder: Path) -> list[Path]:
    """Makes a master's files readable for clones, which have their own user ids. Returns the files.

    They still have to be flushed to disk, which takes time.

    The folder itself stays private: a clone gets the files as descriptors. QEMU 7 opens memory for writing even if it
    only copies on write, so that file must allow it.
    """
    modes = {folder / MEMORY: 0o666, folder / STATE: 0o600, folder / DISK: 0o444}
    for file, mode in modes.items():
        if os.getuid() == 0:
            os.chown(file, 0, 0)
        file.chmod(mode if os.getuid() == 0 else mode & 0o644)
    return list(modes)
