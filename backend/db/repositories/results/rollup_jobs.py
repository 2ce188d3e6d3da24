"""Jobs that compute a run's cube, without holding the run's lock meanwhile.

A job starts by clearing the run's `rollup_stale` and ends by storing the cube. A change in between marks the run as
stale again, so nothing is missed. A job of a dead process is taken over after a while.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, extract, func, select, text, update
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Run

REST = 10.0
"""A cube is recomputed after this multiple of its duration, so it takes at most a tenth of the time."""
ABANDONED = 300.0
"""Seconds after which a job's process counts as dead. Every statement ends within a minute."""
LATE = 20.0
"""Seconds; more than a transaction waits for a lock."""


def behind() -> ColumnElement[bool]:
    """Whether the stored cube is out of date: something has changed, or a new one is being computed."""
    return Run.rollup_stale | Run.rollup_started_at.is_not(None)


def _due() -> ColumnElement[bool]:
    """Whether a job may start. The end of a run is never delayed, because people look at the result then.

    A run's end time is the start of its transaction, which may have waited for a lock.
    """
    never = Run.rollup_as_of.is_(None) | Run.rollup_seconds.is_(None)
    rested = _seconds(Run.rollup_as_of, func.now()) >= REST * Run.rollup_seconds
    ended = _seconds(Run.rollup_as_of, Run.ended_at) > -LATE
    died = _seconds(Run.rollup_started_at, func.now()) > ABANDONED
    return (Run.rollup_stale & Run.rollup_started_at.is_(None) & (never | rested | ended)) | died


def _seconds(since: Any, until: Any) -> ColumnElement[Any]:
    return extract("epoch", until - since)


def due(session: Session, limit: int) -> list[UUID]:
    """Runs whose cube is due."""
    return list(
        session.scalars(select(Run.id).where(behind(), _due(), Run.deleted_at.is_(None)).order_by(Run.id).limit(limit))
    )


def begin(session: Session, run_id: UUID) -> datetime | None:
    """Claims the job if it is due; returns its start time, which `end` needs. Commit before reading."""
    query = update(Run).where(Run.id == run_id, _due())
    query = query.values(rollup_stale=False, rollup_started_at=func.clock_timestamp()).returning(Run.rollup_started_at)
    return session.scalar(query.execution_options(synchronize_session=False))


def end(session: Session, run_id: UUID, began_at: datetime, seconds: float) -> bool:
    """Ends the job. False if another process has taken it over; the cube must then not be stored."""
    query = update(Run).where(Run.id == run_id, Run.rollup_started_at == began_at)
    query = query.values(rollup_started_at=None, rollup_as_of=began_at, rollup_seconds=seconds).returning(Run.id)
    return session.scalar(query.execution_options(synchronize_session=False)) is not None


def give_back(session: Session, run_id: UUID, began_at: datetime) -> None:
    """Returns an unfinished job: the run is as stale as before."""
    query = update(Run).where(Run.id == run_id, Run.rollup_started_at == began_at)
    query = query.values(rollup_stale=True, rollup_started_at=None)
    session.execute(query.execution_options(synchronize_session=False))


def behind_among(session: Session, run_ids: Sequence[UUID]) -> set[UUID]:
    """Those of the runs whose cube is out of date."""
    return set(session.scalars(select(Run.id).where(Run.id.in_(run_ids), behind())))


def mark_others_of_oracle(session: Session, run_id: UUID, oracle: str) -> None:
    """Marks the cubes of the other runs on its tasks as stale if this is an ended run of the oracle.

    Their steps are compared with its steps. Its own kind is left out, so that two of them do not mark each other.
    """
    own = select(Run.task_set_id).join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
    own = own.where(Run.id == run_id, AgentConfiguration.name == oracle, Run.ended_at.is_not(None))
    oracles = select(AgentConfiguration.id).where(AgentConfiguration.name == oracle)
    query = update(Run).where(Run.task_set_id.in_(own), Run.agent_configuration_id.not_in(oracles))
    session.execute(query.values(rollup_stale=True).execution_options(synchronize_session=False))


def larger_than(session: Session, run_id: UUID, episodes: int) -> bool:
    """True if the run has more episodes than this."""
    some = select(Episode.id).where(Episode.run_id == run_id).limit(episodes + 1).subquery()
    return session.scalars(select(func.count()).select_from(some)).one() > episodes


def one_snapshot(session: Session, snapshot: str = "") -> str:
    """Makes this transaction read from one snapshot. Must be its first statement; it must not write.

    It blocks nobody, so results may be read slowly, even where other transactions may not idle.

    Args:
        session: the transaction.
        snapshot: name of that of another transaction, which must go on until this call returns; default: a new one.

    Returns:
        Its name, for other transactions.
    """
    session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    if snapshot:
        session.execute(text(f"SET TRANSACTION SNAPSHOT '{snapshot}'"))  # It takes no parameters.
    session.execute(text("SET LOCAL idle_in_transaction_session_timeout TO '60s'"))
    session.execute(text("SET LOCAL work_mem TO '64MB'"))  # 25,000 evaluations with their parts take 27 MB.
    return snapshot or str(session.scalars(text("SELECT pg_export_snapshot()")).one())
