"""Licences: seats, and seats in use by live leases."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.db.models import Licence


@dataclass(frozen=True)
class Seats:
    """A licence: its seats, and those in use."""

    name: str
    seats: int
    used: int

    @property
    def free(self) -> int:
        """Free seats; at least 0."""
        return max(0, self.seats - self.used)


_SEATS = text("""
    SELECT l.name, l.seats, coalesce(held.seats, 0) AS used
    FROM licence l
    LEFT JOIN (
        SELECT need.key AS name, sum(CAST(need.value AS bigint)) AS seats
        FROM attempt a
        JOIN lease ON lease.id = a.lease_id AND lease.released_at IS NULL
        JOIN episode e ON e.id = a.episode_id
        JOIN task t ON t.id = e.task_id
        CROSS JOIN LATERAL jsonb_each_text(t.licences) need
        WHERE a.live
        GROUP BY need.key
    ) held ON held.name = l.name
    ORDER BY l.name
""")
"""Only live leases count: ending an attempt, even of a dead worker, frees its seats."""

_NEEDED = text("""
    SELECT need.key AS name, count(*) AS tasks
    FROM task t CROSS JOIN LATERAL jsonb_object_keys(t.licences) AS need(key)
    WHERE t.licences <> CAST('{}' AS jsonb)
    GROUP BY need.key
""")


def seats(session: Session) -> list[Seats]:
    """All licences by name, with seats in use."""
    return [Seats(row.name, int(row.seats), int(row.used)) for row in session.execute(_SEATS)]


def lock_all(session: Session) -> None:
    """Locks all seats until the transaction ends. The caller may hold a run and an episode, nothing later."""
    session.execute(select(Licence.id).order_by(Licence.name).with_for_update())


def task_counts(session: Session) -> dict[str, int]:
    """Number of tasks that need each licence, configured or not."""
    return {row.name: int(row.tasks) for row in session.execute(_NEEDED)}


def put(session: Session, name: str, number: int, actor_id: UUID) -> None:
    """Sets the number of seats."""
    query = insert(Licence).values(name=name, seats=number, actor_id=actor_id)
    values = {"seats": number, "actor_id": actor_id, "updated_at": func.now()}
    session.execute(query.on_conflict_do_update(index_elements=["name"], set_=values))
