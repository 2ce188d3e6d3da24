"""Bytes by their hash: the local store, who may read them, and what is removed."""

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from backend.db.models import Actor, Artifact
from backend.db.repositories import artifacts as repository
from backend.db.repositories import workers
from backend.db.session import after_commit
from backend.domain.errors import NotFound, Unavailable
from backend.domain.ports_kept import ArtifactStore

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class ArtifactRef:
    """Bytes that are in the store.

    Attributes:
        size: in bytes.
    """

    sha256: str
    size: int
    media_type: str


class LocalStore:
    """An ArtifactStore in a folder: `ab/cd/abcd...`, written beside and renamed, so that no file is ever half there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Where the bytes lie, if they are there. Raises NotFound for what is no hash."""
        if not _SHA256.fullmatch(sha256):
            raise NotFound(f"{sha256[:80]!r} is no artifact")
        return self.root / sha256[:2] / sha256[2:4] / sha256

    def put(self, data: bytes, media_type: str) -> str:  # noqa: ARG002 - the port's signature; the row keeps the type
        """See ArtifactStore. What is there already is touched, which saves it from collection."""
        sha256 = hashlib.sha256(data).hexdigest()
        target = self.path(sha256)
        try:
            if _touch(target, len(data)):
                return sha256
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, data)
        except OSError as error:
            raise _told(error, self.root) from error
        return sha256

    def get(self, sha256: str) -> bytes:
        """See ArtifactStore."""
        try:
            return self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise NotFound(f"the artifact {sha256} is not in the store") from error

    def delete(self, sha256: str) -> None:
        """See ArtifactStore."""
        self.path(sha256).unlink(missing_ok=True)

    def age(self, sha256: str, now: float) -> float | None:
        """Seconds since somebody stored these bytes, None if they are not there."""
        try:
            return now - self.path(sha256).stat().st_mtime
        except FileNotFoundError:
            return None


def _touch(path: Path, size: int) -> bool:
    """True if the whole file is there; its time is now."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _write(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _told(error: OSError, root: Path) -> Unavailable:
    if error.errno in _NO_ROOM:
        return Unavailable(
            f"disk full: no room for an artifact in {root}", hint="Free some space there; waiting work goes on then."
        )
    return Unavailable(
        f"an artifact could not be stored in {root}: {error.strerror or error}", hint="Is the data folder writable?"
    )


def register(session: Session, sha256: str, size: int, media_type: str) -> None:
    """Makes stored bytes known to the database. Safe to call twice."""
    repository.register(session, [(sha256, size, media_type)])


def register_all(session: Session, refs: Iterable[ArtifactRef]) -> None:
    """Makes several known at once."""
    repository.register(session, [(ref.sha256, ref.size, ref.media_type) for ref in refs])


def open_for(session: Session, sha256: str, actor: Actor) -> Artifact:
    """The artifact, if an episode or a task set of the actor's project refers to it.

    Raises:
        NotFound: there is none, or it is none of the actor's business: which of both is not told.
    """
    found = repository.get(session, sha256)
    if found is None or actor.project_id not in repository.projects_of(session, sha256):
        raise NotFound(f"there is no artifact {sha256[:80]!r} that you may read")
    return found


def collect_orphans(session: Session, store: LocalStore, now: float, grace: timedelta = timedelta(days=1)) -> int:
    """Removes files that no row knows and nobody touched for `grace`: a worker died between storing and saying so.

    Args:
        session: the transaction; only reads.
        store: the local store; others have no files of ours.
        now: seconds since 1970.
        grace: age from which on.

    Returns:
        How many files were removed.
    """
    removed, old = 0, now - grace.total_seconds()
    for folder in sorted(store.root.glob("??/??")):
        files = [path for path in folder.iterdir() if path.stat().st_mtime < old]
        known = repository.known(session, [path.name for path in files])
        for path in files:
            if path.name not in known:
                path.unlink(missing_ok=True)
                removed += 1
    return removed


def collect_garbage(
    session: Session, store: ArtifactStore, grace: timedelta = timedelta(days=1), limit: int = 1000
) -> int:
    """Removes bytes that nothing refers to and that nobody stored for `grace`. Returns how many.

    The rows go first; the bytes go after the commit, unless somebody has stored them again meanwhile.
    """
    before = workers.now(session) - grace
    gone = repository.remove_unused(session, before, limit)

    def remove() -> None:
        import time

        for sha256 in gone:
            age = store.age(sha256, time.time()) if isinstance(store, LocalStore) else None
            if age is None or age >= grace.total_seconds():
                store.delete(sha256)

    if gone:
        after_commit(session, "artifacts:remove", remove)
    return len(gone)
