"""Contents of the image besides packages, as one reproducible tar archive."""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from worker.images.linux.options import BuildSources
from worker.local.etc import generate_files
from worker.local.seccomp import MACHINES, session_program

USER = 1000
"""User id of `user`, in machines and on local desktops."""
GUEST = PurePosixPath("opt/guest")
FILTER = GUEST / "session.bpf"
HOME = PurePosixPath("home/user")
_SETTINGS_OF_LOCAL = ("timezone", "chromium.d/deskarena", "chromium/master_preferences")
"""Files of /etc that machines share with local desktops (`worker/local/etc.py`)."""


def write_layer(target: Path, sources: BuildSources, epoch: int) -> None:
    """Writes the archive.

    Args:
        target: file to write.
        sources: contents.
        epoch: the modification time of everything, seconds since 1970.

    Raises:
        OSError: A source is missing, or the archive cannot be written.
    """
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in _settings():
            _add(archive, name, text, _Rights(0o644, 0, epoch))
        _add_tree(archive, sources.root, PurePosixPath(), 0, epoch)
        _add_tree(archive, sources.server, GUEST / "guest_server", 0, epoch)
        _add_tree(archive, sources.site, GUEST / "site", 0, epoch)
        _add(archive, FILTER, session_program(MACHINES["x86_64"]), _Rights(0o644, 0, epoch))
        _add_tree(archive, sources.home, HOME, USER, epoch)


def digest(folder: Path) -> str:
    """SHA-256 over names, modes and contents of a folder's files. Raises OSError."""
    hasher = hashlib.sha256()
    for path in _files(folder):
        data = path.read_bytes()
        hasher.update(f"{path.relative_to(folder)}\0{_mode(path):o}\0{len(data)}\0".encode() + data)
    return hasher.hexdigest()


def _settings() -> Iterator[tuple[PurePosixPath, bytes]]:
    texts = generate_files("0" * 32)
    yield from ((PurePosixPath("etc", name), texts[name].encode()) for name in _SETTINGS_OF_LOCAL)


def _add_tree(archive: tarfile.TarFile, source: Path, target: PurePosixPath, owner: int, epoch: int) -> None:
    if not source.is_dir():
        raise FileNotFoundError(f"{source} is missing. Run `make setup`.")
    folders: set[PurePosixPath] = set()
    for path in _files(source):
        inside = target / path.relative_to(source).as_posix()
        for folder in reversed([parent for parent in inside.parents if parent.is_relative_to(target) and parent.name]):
            if folder not in folders:
                folders.add(folder)
                _add(archive, folder, None, _Rights(0o755, owner, epoch))
        _add(archive, inside, path.read_bytes(), _Rights(_mode(path), owner, epoch))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _mode(path: Path) -> int:
    """Mode as in git, independent of the umask."""
    return 0o755 if os.access(path, os.X_OK) else 0o644


@dataclass(frozen=True)
class _Rights:
    mode: int
    owner: int
    epoch: int


def _add(archive: tarfile.TarFile, name: PurePosixPath, data: bytes | None, rights: _Rights) -> None:
    """A file, or a folder if there is no content."""
    info = tarfile.TarInfo(f"./{name}")
    info.mode, info.mtime = rights.mode, rights.epoch
    info.uid = info.gid = rights.owner
    if data is None:
        info.type = tarfile.DIRTYPE
        archive.addfile(info)
    else:
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
