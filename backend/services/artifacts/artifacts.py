"""Artifacts: bytes by hash, access rights and garbage collection. Storage: `stores`."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from backend.db.models import Actor, Artifact
from backend.db.repositories.artifacts import artifacts as repository
from backend.db.repositories.capacity import workers
from backend.db.session import after_commit
from backend.domain.errors import NotFound
from backend.domain.ports.storage import ArtifactStore


@dataclass(frozen=True)
class ArtifactRef:
    """Reference to stored bytes.

    Attributes:
        size: in bytes.
    """

    sha256: str
    size: int
    media_type: str


def register(session: Session, sha256: str, size: int, media_type: str) -> None:
    """Registers stored bytes in the database. Safe to call twice."""
    repository.register(session, [(sha256, size, media_type)])


def register_all(session: Session, refs: Iterable[ArtifactRef]) -> None:
    """Registers several at once."""
    repository.register(session, [(ref.sha256, ref.size, ref.media_type) for ref in refs])


def open_for(session: Session, sha256: str, actor: Actor) -> Artifact:
    """The artifact, if an episode or a task set of the actor's project refers to it.

    Raises:
        NotFound: it does not exist, or the actor may not read it; the error does not distinguish these.
    """
    artifact = repository.get(session, sha256)
    if artifact is None or actor.project_id not in repository.projects_of(session, sha256):
        raise NotFound(f"there is no artifact {sha256[:80]!r} that you may read", code="artifact_not_found")
    return artifact


def collect_orphans(session: Session, store: ArtifactStore, now: float, grace: timedelta = timedelta(days=1)) -> int:
    """Removes bytes without a row that are older than `grace`: a worker died before registering them.

    Args:
        session: the transaction; read only.
        store: store to search.
        now: seconds since 1970.
        grace: minimum age in seconds.

    Returns:
        Number of removed objects, including unfinished writes.
    """
    before = now - grace.total_seconds()
    removed = store.tidy(before)
    for hashes in store.old(before):
        existing = repository.existing_hashes(session, list(hashes))
        for sha256 in hashes:
            if sha256 not in existing:
                removed += _remove(store, sha256, grace, now)
    return removed


def collect_garbage(
    session: Session, store: ArtifactStore, grace: timedelta = timedelta(days=1), limit: int = 1000
) -> int:
    """Removes unreferenced artifacts older than `grace`. Returns their number.

    Rows are removed first; the bytes after the commit, unless they were stored again meanwhile.
    """
    before = workers.now(session) - grace
    gone = repository.remove_unused(session, before, limit)

    def remove() -> None:
        for sha256 in gone:
            _remove(store, sha256, grace, time.time())

    if gone:
        after_commit(session, "artifacts:remove", remove)
    return len(gone)


def _remove(store: ArtifactStore, sha256: str, grace: timedelta, now: float) -> bool:
    """Removes the bytes unless they were stored again meanwhile. True if removed."""
    age = store.age(sha256, now)
    if age is None or age < grace.total_seconds():
        return False
    store.delete(sha256)
    return True
