"""Removes rows that deletions have marked, in small transactions. Workers do it; it may stop at any moment."""

import logging
import time

from sqlalchemy.orm import Session

from backend.db.models.enums import DeletionKind
from backend.db.repositories.capacity import workers
from backend.db.repositories.deletions import deletions as repository
from backend.db.repositories.deletions.removal import ROOTS, remove_batch
from backend.db.session import SessionFactory, unit_of_work

BATCH = 5000
"""Rows removed in one transaction: 1.2 s in the median beside other work (docs/reports/verified.md)."""
SECONDS = 2.0
"""Duration of one round at most, plus one transaction."""
logger = logging.getLogger(__name__)


def remove_marked(factory: SessionFactory, *, seconds: float = SECONDS, batch: int = BATCH) -> int:
    """Removes rows until nothing is left or the time is up. Safe to call from several processes at once.

    Returns:
        Number of removed rows.
    """
    total, until = 0, time.monotonic() + seconds
    while True:
        with unit_of_work(factory) as session:
            number = _remove_some(session, batch)
        if number is None:
            return total
        total += number
        if time.monotonic() >= until:
            return total


def _remove_some(session: Session, batch: int) -> int | None:
    """Removes one batch of the next deletion; None: there is none."""
    deletion = repository.claim(session)
    if deletion is None:
        return None
    kind = DeletionKind(deletion.kind)
    table, number = remove_batch(session, kind, deletion.target_id, batch)
    if number:
        deletion.removed = {**deletion.removed, table: deletion.removed.get(table, 0) + number}
    if table == ROOTS[kind].name:
        deletion.finished_at = workers.now(session)
        logger.info("%s %s is deleted: %s", kind, deletion.target_id, deletion.removed)
    return number
