"""Checks whether an image can be built here before minutes are spent, and hints for failed steps."""

import os
import pwd
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from backend.domain.errors import ClusterLost
from backend.domain.model.units import GIB
from worker.images.linux.options import Variant

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SUBORDINATE = (Path("/etc/subuid"), Path("/etc/subgid"))
_TOOLS = ("mmdebstrap", "mke2fs", "dumpe2fs", "debugfs", "qemu-img", "tar")
_TOOLS_OF_OTHERS = ("fakeroot", "newuidmap", "newgidmap")
"""Additional tools for users other than root: fakeroot and user namespaces."""
_RANGE = "100000-165535"
_CONTENT: Mapping[Variant, int] = MappingProxyType({"minimal": GIB, "full": 3 * GIB})
"""Size of a variant's files in bytes, rounded up."""
_COPIES = 3
"""Maximum number of simultaneous copies: unpacked, as a disk, and that disk in QEMU's format."""
_HINTS: Sequence[tuple[str, str]] = (
    (
        r"No space left on device|not have enough space",
        "Free space in the data folder and in the folder of temporary files (TMPDIR).",
    ),
    (
        r"NO_PUBKEY|is not signed",
        ("The keys of Debian's packages are missing (debian-archive-keyring), or the mirror is not signed with them."),
    ),
    (
        r"[Cc]ould not connect|[Cc]ould not resolve|[Cc]onnection failed|[Ff]ailed to fetch|have a Release file",
        "No Debian mirror responds. Name one with --source, and a release that it has with --suite.",
    ),
    (
        r"unable to pick chroot mode|unable to unshare",
        "This machine does not allow user namespaces. Build as root.",
    ),
    (
        r"Unable to locate package|no installation candidate",
        ("Package names are those of Debian bookworm. Name a mirror that has the complete release (--source)."),
    ),
)


def check(variant: Variant, images: Path, *, root: bool, path: str = PATH) -> None:
    """Returns if an image can be built.

    Args:
        variant: of the image.
        images: folder for the image; must exist.
        root: whether the caller is root.
        path: folders of programs.

    Raises:
        ClusterLost: says what is missing, and what to do.
    """
    _check_tools(_TOOLS if root else _TOOLS + _TOOLS_OF_OTHERS, path)
    if not root:
        _check_subordinates(pwd.getpwuid(os.getuid()).pw_name)
    _check_room(images, _COPIES * _CONTENT[variant])
    _check_room(Path(tempfile.gettempdir()), 2 * _CONTENT[variant])


def hint_for(output: str) -> str:
    """Hint for a step's failure, from its program's output; empty if unknown."""
    return next((hint for pattern, hint in _HINTS if re.search(pattern, output)), "")


def _check_tools(tools: Sequence[str], path: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool, path=path) is None]
    if missing:
        raise ClusterLost(
            f"missing programs: {', '.join(missing)}",
            code="image_build_failed",
            hint="`make image-linux` installs them (as root); see also tools/packages-machines.txt.",
        )


def _check_subordinates(name: str) -> None:
    """Raises ClusterLost if the user may not map a whole range of user ids."""
    for file in SUBORDINATE:
        lines = file.read_text().splitlines() if file.exists() else []
        if not any(line.startswith((f"{name}:", f"{os.getuid()}:")) for line in lines):
            raise ClusterLost(
                f"{file} assigns {name} no subordinate ids",
                code="image_build_failed",
                hint=f"Build as root, or as root: usermod --add-subuids {_RANGE} --add-subgids {_RANGE} {name}",
            )


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ClusterLost(
            f"{folder} has {free / GIB:.1f} GiB free; a build needs {needed / GIB:.0f} GiB",
            code="image_build_failed",
            hint="Free space, or choose other folders: --data for the image, TMPDIR for temporary files.",
        )
