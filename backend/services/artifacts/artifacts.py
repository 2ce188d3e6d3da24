"""Bytes by their hash: who may read them, and what is removed. Where they lie: `stores`."""

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
    """Bytes that are in the store.

    Attributes:
        size: in bytes.
    """

    sha256: str
    size: int
    media_type: str


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
    artifact = repository.get(session, sha256)
    if artifact is None or actor.project_id not in repository.projects_of(session, sha256):
        raise NotFound(f"there is no artifact {sha256[:80]!r} that you may read", code="artifact_not_found")
    return artifact


def collect_orphans(session: Session, store: ArtifactStore, now: float, grace: timedelta = timedelta(days=1)) -> int:
    """Removes bytes that no row knows and nobody stored for `grace`: a worker died between storing and saying so.

    Args:
        session: the transaction; only reads.
        store: what is looked through.
        now: seconds since 1970.
        grace: age from which on.

    Returns:
        How many were removed, what unfinished writes left included.
    """
    before = now - grace.total_seconds()
    removed = store.tidy(before)
    for hashes in store.old(before):
        known = repository.known(session, list(hashes))
        for sha256 in hashes:
            if sha256 not in known:
                removed += _remove(store, sha256, grace, now)
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
        for sha256 in gone:
            _remove(store, sha256, grace, time.time())

    if gone:
        after_commit(session, "artifacts:remove", remove)
    return len(gone)


def _remove(store: ArtifactStore, sha256: str, grace: timedelta, now: float) -> bool:
    """Removes the bytes unless somebody has stored them again meanwhile. True if they are gone by our doing."""
    age = store.age(sha256, now)
    if age is None or age < grace.total_seconds():
        return False
    store.delete(sha256)
    return True
