"""Unpacks untrusted archives, bounded and never outside a folder."""

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import DAMAGE, check_archive

MAX_BYTES = 128 * 2**20
MAX_UNPACKED = 400 * 2**20
MAX_FILES = 2000
_DAMAGE = (*DAMAGE, tarfile.TarError)


class ArchiveRefused(Exception):  # noqa: N818 - like the domain's errors
    """The archive cannot be unpacked; the message says why."""


def unpack(path: str | None, below: str, folder: Path) -> dict[str, Path]:
    """Unpacks the files in one folder of an archive.

    Args:
        path: path of the archive; `.zip` by its name, else a tar file of any compression.
        below: a folder in the archive; empty = the whole archive.
        folder: destination, created by this function.

    Returns:
        Name below the archive's folder -> file. Links and devices are left out.

    Raises:
        ArchiveRefused: the archive is missing, damaged, too large, or leads out of its folder.
    """
    if path is None or not Path(path).is_file():
        raise ArchiveRefused("the file does not exist")
    if Path(path).stat().st_size > MAX_BYTES:
        raise ArchiveRefused(f"the file is larger than {MAX_BYTES // 2**20} MiB")
    parent = PurePosixPath(below.replace("\\", "/").strip("/"))
    files: dict[str, Path] = {}
    members = _zip_members(path) if path.lower().endswith(".zip") else _tar_members(path)
    try:
        for number, (name, content) in enumerate(members):
            inner = _below(name, parent)
            if inner is not None:
                target = folder / str(number) / inner.name
                target.parent.mkdir(parents=True)
                with target.open("wb") as file:
                    shutil.copyfileobj(content, file)
                files[str(inner)] = target
    except _DAMAGE as error:
        let_through(error)
        raise ArchiveRefused(f"the archive is damaged: {type(error).__name__}") from error
    return files


def _below(name: str, folder: PurePosixPath) -> PurePosixPath | None:
    path = PurePosixPath(name)
    try:
        return path.relative_to(folder)
    except ValueError:
        return None


def _zip_members(path: str) -> Iterator[tuple[str, IO[bytes]]]:
    reason = check_archive(path)
    if reason:
        raise ArchiveRefused(reason.replace("office document", "archive"))
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_FILES:
            raise ArchiveRefused(f"the archive has more than {MAX_FILES} files")
        for member in members:
            if not member.is_dir():
                with archive.open(member) as content:
                    yield member.filename, content


def _tar_members(path: str) -> Iterator[tuple[str, IO[bytes]]]:
    total = 0
    with tarfile.open(path, "r:*") as archive:
        for number, member in enumerate(archive):
            total += max(0, member.size)
            if number >= MAX_FILES or total > MAX_UNPACKED:
                raise ArchiveRefused(
                    f"the archive unpacks to more than {MAX_UNPACKED // 2**20} MiB or {MAX_FILES} files"
                )
            name = member.name.replace("\\", "/")
            if name.startswith("/") or ".." in name.split("/"):
                raise ArchiveRefused(f"{name[:80]!r} leads out of the archive")
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield name.removeprefix("./"), content
