"""The home template: what a desktop's home holds when it starts.

Its files lie in the folder `home` beside this one. They make applications start quietly: no first-run dialog, no
tip of the day, no question about the default browser.
"""

import hashlib
import os
import shutil
from pathlib import Path

SOURCE = Path(__file__).parent / "home"
USER_FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")
"""Made in each home itself, not in the template: an overlay cannot rename a folder that lies in its lower layer."""


def content_hash(folder: Path = SOURCE) -> str:
    """A hash over names and contents of a folder's files, 16 hexadecimal digits. A link counts as where it leads."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.parent.name != "__pycache__"):
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def copy_tree(source: Path, target: Path) -> None:
    """Copies a folder for everybody to read: folders and programs 0755, other files 0644, whatever the umask was.

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
    """The template owned by one user, under `folder`; made at the first call.

    Each user number has its own copy, because a file of another owner could not be changed in an overlay.

    Args:
        folder: the keeper's own.
        uid: whose it is to be.
        gid: its group.
        source: what is copied.
        key: its name and content in one word.
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
