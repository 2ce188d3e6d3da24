"""Whether an image can be built here, found out before minutes have gone; and what to do where a step has failed."""

import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from backend.domain.errors import ClusterLost
from worker.images.linux.options import Variant

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SUBORDINATE = (Path("/etc/subuid"), Path("/etc/subgid"))
_TOOLS = ("mmdebstrap", "mke2fs", "dumpe2fs", "debugfs", "qemu-img", "tar")
_TOOLS_OF_OTHERS = ("fakeroot", "newuidmap", "newgidmap")
"""For who is not root: who owns what, and a user namespace with all users of a system."""
_RANGE = "100000-165535"
_GIB = 2**30
_CONTENT: Mapping[Variant, int] = MappingProxyType({"minimal": _GIB, "full": 3 * _GIB})
"""Bytes of a variant's files, rounded up."""
_COPIES = 3
"""Of them at once at the most: unpacked, as a disk, and that disk in QEMU's format."""
_HINTS: Sequence[tuple[str, str]] = (
    (
        r"No space left on device|not have enough space",
        "Make room in the data folder and in the folder of temporary files (TMPDIR).",
    ),
    (
        r"NO_PUBKEY|is not signed",
        "The keys of Debian's packages are not here (debian-archive-keyring), or the mirror is not signed with them.",
    ),
    (
        r"[Cc]ould not connect|[Cc]ould not resolve|[Cc]onnection failed|[Ff]ailed to fetch|have a Release file",
        "No mirror of Debian's packages answers: name one that does (--source), and a release that it has (--suite).",
    ),
    (
        r"unable to pick chroot mode|unable to unshare",
        "This machine allows its users no namespaces of their own: build as root.",
    ),
    (
        r"Unable to locate package|no installation candidate",
        "The packages have the names of Debian's release bookworm; name a mirror that has all of it (--source).",
    ),
)


def check(variant: Variant, images: Path, *, root: bool, path: str = PATH) -> None:
    """Returns if nothing speaks against building.

    Args:
        variant: of the image.
        images: the folder that it will lie in; must be there.
        root: who calls is root.
        path: where programs are looked for.

    Raises:
        ClusterLost: says what is missing, and what to do.
    """
    _check_tools(_TOOLS if root else _TOOLS + _TOOLS_OF_OTHERS, path)
    if not root:
        _check_subordinates(pwd.getpwuid(os.getuid()).pw_name)
    _check_room(images, _COPIES * _CONTENT[variant])
    _check_room(Path(tempfile.gettempdir()), 2 * _CONTENT[variant])


def hint_for(output: str) -> str:
    """What to do about a step's failure, by what its program said; empty if nobody knows."""
    return next((hint for pattern, hint in _HINTS if re.search(pattern, output)), "")


def _check_tools(tools: Sequence[str], path: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool, path=path) is None]
    if missing:
        raise ClusterLost(
            f"this machine lacks {', '.join(missing)}",
            code="image_build_failed",
            hint="`make image-linux` installs what it needs (as root); or see tools/packages-machines.txt.",
        )


def _check_subordinates(name: str) -> None:
    """Raises ClusterLost if the user may not have a namespace with the users of a whole system."""
    for file in SUBORDINATE:
        lines = file.read_text().splitlines() if file.exists() else []
        if not any(line.startswith((f"{name}:", f"{os.getuid()}:")) for line in lines):
            raise ClusterLost(
                f"{file} gives {name} no numbers of other users",
                code="image_build_failed",
                hint=f"Build as root, or as root: usermod --add-subuids {_RANGE} --add-subgids {_RANGE} {name}",
            )


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ClusterLost(
            f"{folder} has {free / _GIB:.1f} GiB free; a build needs {needed / _GIB:.0f} GiB there",
            code="image_build_failed",
            hint="Make room, or name other folders: --data for the image, TMPDIR for temporary files.",
        )
