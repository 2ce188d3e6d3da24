"""Events: the only writer of `run.next_event_seq`."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from backend.db.models import Event, Run


def append(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    run_id: UUID,
    kind: str,
    data: Mapping[str, Any],
    *,
    episode_id: UUID | None = None,
    attempt_id: UUID | None = None,
) -> int:
    """Writes the run's next event and returns its `seq`.

    The number is given by an UPDATE of the run's row, whose lock is held until our commit: so numbers have no gap
    and are seen in order, also where the caller had forgotten to lock the run.
    """
    given = update(Run).where(Run.id == run_id).values(next_event_seq=Run.next_event_seq + 1)
    query = given.returning(Run.next_event_seq - 1).execution_options(synchronize_session=False)
    seq = session.scalars(query).one()
    row = Event(run_id=run_id, seq=seq, kind=kind, data=dict(data), episode_id=episode_id, attempt_id=attempt_id)
    session.add(row)
    return seq


def after(session: Session, run_id: UUID, seq: int, limit: int) -> list[Event]:
    """Events of a run with a higher number, in order."""
    query = select(Event).where(Event.run_id == run_id, Event.seq > seq).order_by(Event.seq).limit(limit)
    return list(session.scalars(query))
