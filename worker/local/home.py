"""Template of a desktop's home.

Its files are in the folder `home` beside this module. They suppress first-run dialogs, tips and questions about the
default browser.
"""

import hashlib
import os
import shutil
from pathlib import Path

SOURCE = Path(__file__).parent / "home"
USER_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")
"""Folders created in each home, not in the template: an overlay cannot rename a folder of its lower layer."""


def content_hash(folder: Path = SOURCE) -> str:
    """Hash of names and contents of a folder's files, 16 hexadecimal digits. Links are followed."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__"):
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def copy_tree(source: Path, target: Path) -> None:
    """Copies a folder with normalised modes: folders and programs 0755, other files 0644.

    Links stay links.
    """
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, target, symlinks=True, copy_function=shutil.copyfile, ignore=ignore)
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o755)
        for name in files:
            copied = Path(folder) / name
            if copied.is_symlink():
                continue
            program = os.access(source / copied.relative_to(target), os.X_OK)
            copied.chmod(0o755 if program else 0o644)


def template_for(folder: Path, uid: int, gid: int, *, source: Path, key: str) -> Path:
    """The template owned by one user, under `folder`; created on first call.

    Each user id has its own copy, because an overlay cannot change a file of another owner.

    Args:
        folder: the supervisor's own.
        uid: owner.
        gid: its group.
        source: folder to copy.
        key: short name that changes with its content.
    """
    target = folder / f"{key}-{uid}"
    if not target.exists():
        partial = folder / f".{key}-{uid}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        copy_tree(source, partial)
        if uid != os.getuid():
            _give(partial, uid, gid)
        partial.rename(target)
    return target


def _give(folder: Path, uid: int, gid: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, uid, gid, follow_symlinks=False)
