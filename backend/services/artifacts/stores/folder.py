"""Artifact store in a folder of this machine."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.domain.errors import Unavailable
from backend.services.artifacts.stores.keys import absent, check_bytes, hash_in, key_of

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NEW = ".new-"


class FolderStore:
    """An ArtifactStore in a folder: `ab/cd/abcd...`, written under a temporary name and renamed, so never partial."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Path of existing bytes. Raises NotFound for an invalid hash."""
        return self.root / key_of(sha256)

    def put(self, data: bytes, media_type: str) -> str:  # noqa: ARG002 - the port's signature; the row keeps the type
        """Existing files are touched, which protects them from garbage collection."""
        sha256 = hashlib.sha256(data).hexdigest()
        target = self.path(sha256)
        try:
            if _touch(target, len(data)):
                return sha256
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, data)
        except OSError as error:
            raise _write_error(error, self.root) from error
        return sha256

    def get(self, sha256: str) -> bytes:
        try:
            data = self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise absent(sha256) from error
        except OSError as error:
            raise _unreadable(error, self.root) from error
        return check_bytes(sha256, data, str(self.root))

    def delete(self, sha256: str) -> None:
        self.path(sha256).unlink(missing_ok=True)

    def age(self, sha256: str, now: float) -> float | None:
        try:
            return now - self.path(sha256).stat().st_mtime
        except FileNotFoundError:
            return None

    def old(self, before: float) -> Iterator[Sequence[str]]:
        """A batch is a folder."""
        for files in self._folders():
            names = [file.name for file in files if hash_in(file.as_posix()) and _is_older(file, before)]
            if names:
                yield names

    def tidy(self, before: float) -> int:
        temporary = [file for files in self._folders() for file in files if file.name.startswith(_NEW)]
        gone = [file for file in temporary if _is_older(file, before)]
        for file in gone:
            file.unlink(missing_ok=True)
        return len(gone)

    def _folders(self) -> Iterator[list[Path]]:
        for folder in sorted(self.root.glob("??/??")):
            yield list(folder.iterdir())


def _is_older(file: Path, moment: float) -> bool:
    """Whether it was written before that time; False if it is gone."""
    try:
        return file.stat().st_mtime < moment
    except FileNotFoundError:
        return False


def _touch(path: Path, size: int) -> bool:
    """True if the complete file exists; sets its time to now."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _write(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_NEW)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_error(error: OSError, root: Path) -> Unavailable:
    if error.errno in _NO_ROOM:
        return Unavailable(
            f"disk full: no room for an artifact in {root}",
            code="store_full",
            hint="Free some space there; waiting work then continues.",
        )
    return Unavailable(
        f"an artifact could not be stored in {root}: {error.strerror or error}",
        code="store_unavailable",
        hint="Make the data folder writable.",
    )


def _unreadable(error: OSError, root: Path) -> Unavailable:
    return Unavailable(
        f"an artifact could not be read from {root}: {error.strerror or error}",
        code="store_unavailable",
        hint="Make the data folder readable for the service.",
    )
