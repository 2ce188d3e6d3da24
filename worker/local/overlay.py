"""A desktop's home on the stage: an overlay over the template, or a copy of it."""

import errno
import itertools
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from worker.local import kernel
from worker.local.layout import STAGE
from worker.local.namespaces import MountSetup

_STAGE = Path(STAGE)
_SMALL = 2**20
"""Maximum bytes of a template file that is used for the test."""
_LOOKED_AT = 1000
"""Maximum number of template files searched for a small one."""


def make_home(template: int, footing: MountSetup, folders: Sequence[str], *, overlay: bool) -> tuple[str, str]:
    """An overlay over the template, or a copy if that is unavailable or not requested.

    Args:
        template: descriptor of its folder.
        footing: situation of the stage.
        folders: created in the home, relative to it.
        overlay: whether to try an overlay.

    Returns:
        Which it is, and why it is not an overlay; empty if it is, or none was requested.
    """
    home, source = _STAGE / "home", f"/proc/self/fd/{template}"
    problem = _try_overlay(source, home, footing) if overlay else ""
    if problem or not overlay:
        _copy(source, home, footing)
    for name in folders:
        (home / name).mkdir()
        _own(home / name, footing)
    return "copy on tmpfs" if problem or not overlay else "overlay", problem


def _try_overlay(source: str, home: Path, footing: MountSetup) -> str:
    """Why there is none; empty if there is."""
    try:
        _overlay(source, home, footing)
    except OSError as error:
        shutil.rmtree(home, ignore_errors=True)
        return str(error) or type(error).__name__
    return ""


def _overlay(source: str, home: Path, footing: MountSetup) -> None:
    """Mounts the overlay. Raises OSError if this kernel cannot, or not correctly."""
    # In a user namespace, overlayfs stores its marks in attributes that users may write.
    extra = ",userxattr" if footing.in_user_namespace else ""
    _check_overlay(source, extra)
    upper, work = _STAGE / "upper", _STAGE / "work"
    for folder in (upper, work, home):
        folder.mkdir()
    _own(upper, footing)
    _mount_overlay(source, upper, work, home, extra)


def _mount_overlay(lower: str, upper: Path, work: Path, target: Path, extra: str) -> None:
    options = f"lowerdir={lower},upperdir={upper},workdir={work}{extra}"
    kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _check_overlay(source: str, extra: str) -> None:
    """Tests over the template what desktops do in their homes. Raises OSError if something goes wrong.

    An overlay may be mounted and then fail on writes: over a file system whose files it cannot copy up, or on a tmpfs
    without user attributes (before Linux 6.6), where a folder cannot be deleted and recreated.
    """
    trial = _STAGE / "trial"
    lower, upper, work, target = (trial / name for name in ("lower", "upper", "work", "target"))
    for folder in (lower / "trial-folder" / "file", upper, work, target):
        folder.mkdir(parents=True)
    _mount_overlay(f"{lower}:{source}", upper, work, target, extra)
    try:
        _try_folder(target / "trial-folder")
        _try_file(target)
    finally:
        kernel.unmount(target)
        (work / "work").chmod(0o700)
        shutil.rmtree(trial)


def _try_folder(folder: Path) -> None:
    """Deletes a folder of a lower layer and recreates it."""
    (folder / "file").rmdir()
    folder.rmdir()
    folder.mkdir()
    if any(folder.iterdir()):
        raise OSError(errno.EIO, "the overlay shows deleted files again")


def _try_file(target: Path) -> None:
    """Changes a file of the template, which copies it up, and deletes it, which hides it."""
    few = itertools.islice((path for path in target.rglob("*") if path.is_file() and not path.is_symlink()), _LOOKED_AT)
    file = next((path for path in few if path.stat().st_size <= _SMALL), None)
    if file is None:
        return
    before = file.read_bytes()
    with file.open("ab") as stream:
        stream.write(b"trial")
    if file.read_bytes() != before + b"trial":
        raise OSError(errno.EIO, "the overlay loses changes to a file of the template")
    file.unlink()
    if file.exists():
        raise OSError(errno.EIO, "the overlay shows a deleted file again")


def _copy(source: str, home: Path, footing: MountSetup) -> None:
    shutil.copytree(source, home, symlinks=True)
    home.chmod(0o755)
    for path in (home, *home.rglob("*")):
        _own(path, footing)


def _own(path: Path, footing: MountSetup) -> None:
    if footing.owner is not None:
        os.chown(path, *footing.owner, follow_symlinks=False)
