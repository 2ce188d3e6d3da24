"""Events: the only writer of `run.next_event_seq`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, literal, select, text, update
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Event, Run
from backend.db.types import dump_json

_APPEND = text("""
    WITH numbered AS (
        UPDATE run SET next_event_seq = next_event_seq + more.number
        FROM unnest(CAST(:runs AS uuid[]), CAST(:numbers AS bigint[])) AS more(id, number) WHERE run.id = more.id
        RETURNING run.id, next_event_seq - more.number AS first
    ), told AS (
        INSERT INTO event (id, run_id, seq, kind, episode_id, attempt_id, data)
        SELECT new.id, new.run_id, numbered.first + new.place, new.kind, new.episode_id, new.attempt_id, new.data
        FROM unnest(
            CAST(:ids AS uuid[]), CAST(:run_ids AS uuid[]), CAST(:places AS bigint[]), CAST(:kinds AS text[]),
            CAST(:episodes AS uuid[]), CAST(:attempts AS uuid[]), CAST(CAST(:data AS text[]) AS jsonb[])
        ) AS new(id, run_id, place, kind, episode_id, attempt_id, data)
        JOIN numbered ON numbered.id = new.run_id
        RETURNING run_id, seq
    )
    SELECT run_id, max(seq) AS last FROM told GROUP BY run_id
""")
"""One query for all, because starting attempts blocks all who want slots."""


@dataclass(frozen=True)
class NewEvent:
    """An event to write."""

    kind: str
    data: Mapping[str, Any]
    episode_id: UUID | None = None
    attempt_id: UUID | None = None


def append_all(session: Session, by_run: Mapping[UUID, Sequence[NewEvent]]) -> dict[UUID, int]:
    """Writes the next events of several runs, which the caller has locked; returns the last `seq` of each."""
    rows = [(run, index, event) for run, events in by_run.items() for index, event in enumerate(events)]
    values = {
        "runs": list(by_run),
        "numbers": [len(events) for events in by_run.values()],
        "ids": [uuid7() for _ in rows],
        "run_ids": [run for run, _, _ in rows],
        "places": [position for _, position, _ in rows],
        "kinds": [str(event.kind) for _, _, event in rows],
        "episodes": [event.episode_id for _, _, event in rows],
        "attempts": [event.attempt_id for _, _, event in rows],
        "data": [dump_json(dict(event.data)) for _, _, event in rows],
    }
    session.flush()  # The described rows must be written first.
    return {row.run_id: int(row.last) for row in session.execute(_APPEND, values)}


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

    The number comes from an UPDATE of the run's row, whose lock is held until the commit: so numbers have no gaps and
    become visible in order, even if the caller forgot to lock the run.
    """
    counter = update(Run).where(Run.id == run_id).values(next_event_seq=Run.next_event_seq + 1)
    number = counter.returning((Run.next_event_seq - 1).label("seq")).cte("number")
    values = {
        "id": uuid7(),
        "run_id": run_id,
        "kind": kind,
        "data": dict(data),
        "episode_id": episode_id,
        "attempt_id": attempt_id,
    }
    columns = [literal(value, Event.__table__.c[name].type).label(name) for name, value in values.items()]
    query = insert(Event).from_select([*values, "seq"], select(*columns, number.c.seq)).returning(Event.seq)
    session.flush()  # The described row must be written first.
    return session.execute(query, execution_options={"synchronize_session": False}).scalars().one()


def newest_seq(session: Session, run_id: UUID) -> int:
    """Number of the run's newest event; 0 before the first one."""
    return session.scalar(select(func.max(Event.seq)).where(Event.run_id == run_id)) or 0


def newest_id(session: Session) -> UUID | None:
    """Id of the newest event of any run: it changes with every event."""
    return session.scalar(select(Event.id).order_by(Event.id.desc()).limit(1))


def after(session: Session, run_id: UUID, seq: int, limit: int) -> list[Event]:
    """Events of a run with a higher number, in order."""
    query = select(Event).where(Event.run_id == run_id, Event.seq > seq).order_by(Event.seq).limit(limit)
    return list(session.scalars(query))
