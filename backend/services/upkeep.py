"""What has to be done now and then by whoever is alive: workers as they poll, and beat. Safe to run twice at once."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.session import SessionFactory, unit_of_work
from backend.domain.ports_kept import ArtifactStore
from backend.services import artifacts, recovery

T = TypeVar("T")


def tend(factory: SessionFactory, *, lease_seconds: float | None = None) -> list[UUID]:
    """Ends what fell silent. Roll-ups are apart (`rollup_turns.renew_due`): a large one takes longer than a lease.

    Returns:
        The attempts that were lost with their workers.
    """
    return _in_one(factory, lambda session: recovery.reap(session, lease_seconds=lease_seconds))


def sweep(factory: SessionFactory, store: ArtifactStore, grace: timedelta = timedelta(days=1)) -> int:
    """Removes artifacts that nothing refers to, and bytes that nobody knows; for beat, now and then.

    Returns:
        How many.
    """
    removed = _in_one(factory, lambda session: artifacts.collect_garbage(session, store, grace))
    return removed + _in_one(factory, lambda session: artifacts.collect_orphans(session, store, time.time(), grace))


def _in_one(factory: SessionFactory, work: Callable[[Session], T]) -> T:
    with unit_of_work(factory) as session:
        return work(session)
