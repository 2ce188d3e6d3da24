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
    """A hash over names and contents of a folder's files, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.parent.name != "__pycache__"):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def copy_tree(source: Path, target: Path) -> None:
    """Copies a folder for everybody to read: folders and programs 0755, other files 0644, whatever the umask was."""
    shutil.copytree(source, target, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("__pycache__"))
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o755)
        for name in files:
            copied = Path(folder) / name
            program = os.access(source / copied.relative_to(target), os.X_OK)
            copied.chmod(0o755 if program else 0o644)


def template_for(folder: Path, uid: int, gid: int) -> Path:
    """The template owned by one user, under `folder`; made at the first call.

    Each user number has its own copy, because a file of another owner could not be changed in an overlay.
    """
    target = folder / f"home-{content_hash()}-{uid}"
    if not target.exists():
        partial = folder / f".home-{uid}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        copy_tree(SOURCE, partial)
        if uid != os.getuid():
            _give(partial, uid, gid)
        partial.rename(target)
    return target


def _give(folder: Path, uid: int, gid: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, uid, gid)
