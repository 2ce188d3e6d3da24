"""A desktop's home on the stage: an overlay over the template, or a copy of it."""

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from worker.local import kernel
from worker.local.layout import STAGE
from worker.local.namespaces import Footing

_STAGE = Path(STAGE)


def make_home(template: int, footing: Footing, folders: Sequence[str], *, overlay: bool) -> str:
    """An overlay over the template, or where that cannot be had (or is not wanted) a copy of it. Returns which.

    Args:
        template: a descriptor of its folder.
        footing: where the stage stands.
        folders: made in the home itself, relative to it.
        overlay: whether it is wanted.
    """
    home, source = _STAGE / "home", f"/proc/self/fd/{template}"
    made = overlay and _try_overlay(source, home, footing)
    if not made:
        _copy(source, home, footing)
    for name in folders:
        (home / name).mkdir()
        _own(home / name, footing)
    return "overlay" if made else "copy on tmpfs"


def _try_overlay(source: str, home: Path, footing: Footing) -> bool:
    try:
        _overlay(source, home, footing)
    except OSError:
        shutil.rmtree(home, ignore_errors=True)
        return False
    return True


def _overlay(source: str, home: Path, footing: Footing) -> None:
    """Mounts the overlay. Raises OSError if this kernel cannot, or cannot do it right."""
    # In a user namespace, overlayfs keeps its marks in attributes that users may write.
    extra = ",userxattr" if footing.in_user_namespace else ""
    _check_overlay(extra)
    upper, work = _STAGE / "upper", _STAGE / "work"
    for folder in (upper, work, home):
        folder.mkdir()
    _own(upper, footing)
    _mount_overlay(source, upper, work, home, extra)


def _mount_overlay(lower: str, upper: Path, work: Path, target: Path, extra: str) -> None:
    options = f"lowerdir={lower},upperdir={upper},workdir={work}{extra}"
    kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _check_overlay(extra: str) -> None:
    """Deletes a folder of a lower layer and makes it anew.

    Before Linux 6.6 a tmpfs keeps no user attributes. An overlay on it mounts and then fails at exactly this.
    """
    trial = _STAGE / "trial"
    lower, upper, work, target = (trial / name for name in ("lower", "upper", "work", "target"))
    for folder in (lower / "folder" / "file", upper, work, target):
        folder.mkdir(parents=True)
    _mount_overlay(str(lower), upper, work, target, extra)
    try:
        (target / "folder" / "file").rmdir()
        (target / "folder").rmdir()
        (target / "folder").mkdir()
        if any((target / "folder").iterdir()):
            raise OSError(errno.EIO, "the overlay shows deleted files again")
    finally:
        kernel.unmount(target)
        (work / "work").chmod(0o700)
        shutil.rmtree(trial)


def _copy(source: str, home: Path, footing: Footing) -> None:
    shutil.copytree(source, home, symlinks=True)
    home.chmod(0o755)
    for path in (home, *home.rglob("*")):
        _own(path, footing)


def _own(path: Path, footing: Footing) -> None:
    if footing.owner is not None:
        os.chown(path, *footing.owner, follow_symlinks=False)
