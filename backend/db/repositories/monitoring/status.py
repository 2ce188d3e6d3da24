"""Queries of the status of an installation."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Worker
from backend.db.models.enums import WorkerState
from backend.db.repositories.common_queries import LATE_SECONDS, AnyRow


def workers_online(session: Session) -> AnyRow:
    """Workers: (online, of these heard of just now, of these unable to store results)."""
    age = func.extract("epoch", func.now() - Worker.heartbeat_at)
    heard = age <= 6 * LATE_SECONDS
    blocked = func.coalesce(Worker.capabilities["hindrance"].astext, "") != ""  # noqa: PLC1901 - SQL
    query = select(
        func.count().label("online"),
        func.count().filter(heard).label("heard"),
        func.count().filter(heard, blocked).label("blocked"),
    )
    return session.execute(query.where(Worker.state == WorkerState.ONLINE.value)).one()
