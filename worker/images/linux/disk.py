"""Commands that create a disk from a file system's archive, as pure functions.

The disk has no journal: a machine writes to a temporary overlay, and a journal would double the writes.
"""

import re
import uuid
from collections.abc import Sequence
from pathlib import Path

_SPACE = uuid.UUID("6f1b9a0e-5f0c-4a7d-9f6e-0d1d6a3e3a11")
_FEATURES = "^has_journal,^metadata_csum_seed"
_FIELDS = ("ctime", "atime", "crtime")


def as_root(command: Sequence[str], state: Path, *, root: bool) -> list[str]:
    """Command with root's view of file owners. Users other than root use `fakeroot` with state between calls.

    Args:
        command: the words.
        state: file with the owners.
        root: whether the caller is root.
    """
    return list(command) if root else ["fakeroot", "-i", str(state), "-s", str(state), "--", *command]


def unpack_command(archive: Path, folder: Path) -> list[str]:
    """Unpacks the file system, without device files, which the running kernel creates."""
    words = ["tar", "--extract", "--file", str(archive), "--directory", str(folder), "--numeric-owner"]
    return [*words, "--same-owner", "--preserve-permissions", "--delay-directory-restore", "--exclude=./dev/*"]


def format_command(folder: Path, disk: Path, size: int, digest: str) -> list[str]:
    """Creates a file system with a folder's content.

    Args:
        folder: the content.
        disk: file to write.
        size: bytes of the disk.
        digest: of the content; otherwise random identifiers are derived from it, for reproducible images.
    """
    own, seed = uuid.uuid5(_SPACE, f"{digest} disk"), uuid.uuid5(_SPACE, f"{digest} names")
    extended = f"hash_seed={seed},lazy_itable_init=1,assume_storage_prezeroed=1,root_owner=0:0"
    words = ["mke2fs", "-q", "-F", "-t", "ext4", "-O", _FEATURES, "-E", extended, "-U", str(own), "-L", "desktop"]
    return [*words, "-m", "0", "-d", str(folder), str(disk), f"{size // 1024}k"]


def inspect_command(disk: Path) -> list[str]:
    """Prints how many files the file system has, see `moments`."""
    return ["dumpe2fs", "-h", str(disk)]


def moments(header: str, epoch: int) -> str:
    """Commands that set each file's timestamps, which would otherwise be those of the build.

    Args:
        header: output of `inspect_command`.
        epoch: seconds since 1970.

    Returns:
        Input for `moments_command`. In a new file system the inodes of files are consecutive.

    Raises:
        ValueError: It is not the header of a file system.
    """
    numbers = {name: int(match[1]) for name in ("Inode count", "Free inodes") if (match := _number(name, header))}
    if len(numbers) != 2:  # noqa: PLR2004 - the two above
        raise ValueError(f"not the header of a file system: {header[:200]!r}")
    used = numbers["Inode count"] - numbers["Free inodes"]
    lines = (f"sif <{inode}> {field} @{epoch}" for inode in (2, *range(11, used + 1)) for field in _FIELDS)
    return "\n".join(lines) + "\n"


def _number(name: str, header: str) -> "re.Match[str] | None":
    return re.search(rf"^{name}:\s+(\d+)$", header, re.MULTILINE)


def moments_command(disk: Path, commands: Path) -> list[str]:
    """Runs the commands of `moments`; on success it prints only its name and the commands."""
    return ["debugfs", "-w", "-f", str(commands), str(disk)]


def convert_command(raw: Path, disk: Path) -> list[str]:
    """Converts a raw disk to QEMU's format, which stores only used blocks."""
    return ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-o", "compat=1.1", str(raw), str(disk)]
