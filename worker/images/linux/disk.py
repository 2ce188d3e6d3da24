"""The commands that make a disk of a file system's archive, as pure functions.

The disk has no journal: a machine writes to an overlay that is thrown away, and a journal would make it write twice.
"""

import re
import uuid
from collections.abc import Sequence
from pathlib import Path

_SPACE = uuid.UUID("6f1b9a0e-5f0c-4a7d-9f6e-0d1d6a3e3a11")
_FEATURES = "^has_journal,^metadata_csum_seed"
_FIELDS = ("ctime", "atime", "crtime")


def as_root(command: Sequence[str], state: Path, *, root: bool) -> list[str]:
    """A command that owns what it makes as root would. Who is not root pretends to be (`fakeroot`), from call to call.

    Args:
        command: the words.
        state: a file that keeps who owns what.
        root: who calls is root.
    """
    return list(command) if root else ["fakeroot", "-i", str(state), "-s", str(state), "--", *command]


def unpack_command(archive: Path, folder: Path) -> list[str]:
    """Unpacks the file system. Devices are the running kernel's to make."""
    words = ["tar", "--extract", "--file", str(archive), "--directory", str(folder), "--numeric-owner"]
    return [*words, "--same-owner", "--preserve-permissions", "--delay-directory-restore", "--exclude=./dev/*"]


def format_command(folder: Path, disk: Path, size: int, digest: str) -> list[str]:
    """Makes a file system of a folder's content.

    Args:
        folder: the content.
        disk: the file to write.
        size: bytes of the disk.
        digest: of what goes in; identifiers that others draw come from it, so that the same content has the same ones.
    """
    own, seed = uuid.uuid5(_SPACE, f"{digest} disk"), uuid.uuid5(_SPACE, f"{digest} names")
    extended = f"hash_seed={seed},lazy_itable_init=1,assume_storage_prezeroed=1,root_owner=0:0"
    words = ["mke2fs", "-q", "-F", "-t", "ext4", "-O", _FEATURES, "-E", extended, "-U", str(own), "-L", "desktop"]
    return [*words, "-m", "0", "-d", str(folder), str(disk), f"{size // 1024}k"]


def inspect_command(disk: Path) -> list[str]:
    """Tells how many files the file system has, see `moments`."""
    return ["dumpe2fs", "-h", str(disk)]


def moments(header: str, epoch: int) -> str:
    """What sets each file's moments: besides its change they would be those of the build.

    Args:
        header: what `inspect_command` said.
        epoch: seconds since 1970.

    Returns:
        Commands for `moments_command`. A new file system has its files' inodes one after the other.

    Raises:
        ValueError: that was not the header of a file system.
    """
    numbers = {name: int(match[1]) for name in ("Inode count", "Free inodes") if (match := _number(name, header))}
    if len(numbers) != 2:  # noqa: PLR2004 - the two above
        raise ValueError(f"this is no header of a file system: {header[:200]!r}")
    used = numbers["Inode count"] - numbers["Free inodes"]
    lines = (f"sif <{inode}> {field} @{epoch}" for inode in (2, *range(11, used + 1)) for field in _FIELDS)
    return "\n".join(lines) + "\n"


def _number(name: str, header: str) -> "re.Match[str] | None":
    return re.search(rf"^{name}:\s+(\d+)$", header, re.MULTILINE)


def moments_command(disk: Path, commands: Path) -> list[str]:
    """Carries out what `moments` gave; it says nothing but its own name and the commands if all went well."""
    return ["debugfs", "-w", "-f", str(commands), str(disk)]


def convert_command(raw: Path, disk: Path) -> list[str]:
    """QEMU's format of a raw disk: only what is used has a place in it."""
    return ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", "-o", "compat=1.1", str(raw), str(disk)]
