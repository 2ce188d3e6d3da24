"""Whether pages of running attempts have to be read again although no event has happened."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.capacity import leases, workers_view

LiveMarks = frozenset[tuple[Any, ...]]


def live_marks(session: Session, run_id: UUID | None = None) -> LiveMarks:
    """Waits of attempts for their models, and silent workers: equal as long as pages show the same.

    Args:
        session: the transaction.
        run_id: only attempts of this run; without one also which workers are online, and which slots are broken.
    """
    marks = leases.live_marks(session, run_id)
    return marks if run_id is not None else marks | workers_view.marks(session)
