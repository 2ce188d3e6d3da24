"""Figures for people and autoscalers. Each query uses a partial index."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, TextClause, and_, case, func, or_, select, text
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Lease, Node, Run, Slot, Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.scheduling.scheduler import NOT_LEFT, excluded_parameters
from backend.domain.machines.nodes import NodeState
from backend.domain.model.episode import AttemptState, EpisodeState, RunState

_FAR = timedelta(days=365)
"""An episode that may start only later waits for a person or an event, not for a time."""
_SKEW = timedelta(seconds=30)


def _ready(others: str) -> TextClause:
    return text(f"""
    SELECT able.run_id, able.requirements_id, (
        SELECT count(*) FROM (
            SELECT FROM episode e
            WHERE e.run_id = able.run_id AND e.requirements_id = able.requirements_id AND e.state = 'waiting'
                AND e.available_at < '9000-01-01 00:00:00+00' AND e.available_at <= clock_timestamp() {others}
            LIMIT :most
        ) one
    ) AS number
    FROM unnest(CAST(:runs AS uuid[]), CAST(:needs AS uuid[])) AS able(run_id, requirements_id)
""")  # noqa: S608 - constant texts


_READY, _READY_OTHERS = _ready(""), _ready(NOT_LEFT)


def queue(session: Session, now: datetime) -> Sequence[AnyRow]:
    """Waiting episodes of active runs: (provider, reason, episodes, since when the oldest could start)."""
    reason = case(
        (Run.state == RunState.PAUSED.value, "paused"),
        (Episode.available_at > now + _FAR, "held"),
        (Episode.available_at > now, "later"),
        else_="ready",
    ).label("reason")
    oldest = func.min(func.greatest(Episode.available_at, Run.created_at)).label("oldest")
    open_states = [state.value for state in (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)]
    query = (
        select(Run.provider, reason, func.count().label("episodes"), oldest)
        .join(Episode, Episode.run_id == Run.id)
        .where(Run.state.in_(open_states), Episode.state == EpisodeState.WAITING.value)
        .group_by(Run.provider, reason)
    )
    return session.execute(query).all()


def ready(
    session: Session, pairs: Sequence[tuple[UUID, UUID]], most: int, left: Sequence[tuple[UUID, UUID]] = ()
) -> dict[tuple[UUID, UUID], int]:
    """Episodes that could start now, by (run, requirements), except those of `left`: (run, task).

    Counts stop at `most`.
    """
    values = {"runs": [run for run, _ in pairs], "needs": [need for _, need in pairs], "most": most}
    rows = session.execute(_READY_OTHERS if left else _READY, values | excluded_parameters(left))
    return {(row.run_id, row.requirements_id): row.number for row in rows}


def attempts(session: Session) -> Sequence[AnyRow]:
    """Running attempts: (provider, state, number)."""
    query = select(Slot.provider, Attempt.state, func.count().label("number")).select_from(Attempt)
    query = query.join(Slot, Slot.id == Attempt.slot_id).where(Attempt.live)
    return session.execute(query.group_by(Slot.provider, Attempt.state)).all()


def slots(session: Session) -> Sequence[AnyRow]:
    """Slots: (provider, state of their node, `free`, `leased` or `closed`, number); without nodes that are gone.

    Closed ones are broken, draining, on an unusable node, or without a worker.
    """
    live = and_(Lease.slot_id == Slot.id, Lease.released_at.is_(None))
    open_ = and_(Slot.state == SlotState.FREE.value, Node.state == NodeState.READY.value, served())
    state = case((Lease.id.is_not(None), "leased"), (open_, "free"), else_="closed").label("state")
    query = (
        select(Slot.provider, Node.state.label("node"), state, func.count().label("number"))
        .join(Node, Node.id == Slot.node_id)
        .outerjoin(Lease, live)
        .where(or_(Node.state != NodeState.GONE.value, Lease.id.is_not(None)))
        .group_by(Slot.provider, Node.state, state)
    )
    return session.execute(query).all()


def served() -> ColumnElement[bool]:
    """Whether a worker is online that could use a query's `Slot` of its `Node`."""
    online = Worker.state == WorkerState.ONLINE.value
    has_worker = select(Worker.id).where(online, Worker.node_id == Node.id).exists()
    cluster = Worker.capabilities["providers"][Slot.provider]["cluster"].astext
    of_cluster = select(Worker.id).where(online, cluster == Node.cluster).exists()
    return case((Node.cluster == "", has_worker), else_=of_cluster)  # noqa: PLC1901 - SQL


def lost_since(session: Session, since: datetime) -> Sequence[AnyRow]:
    """Attempts that were lost since then: (failure class, number)."""
    lost = (Attempt.state == AttemptState.LOST.value, Attempt.ended_at > since)
    query = select(Attempt.failure_class, func.count().label("number")).where(*lost)
    return session.execute(query.group_by(Attempt.failure_class)).all()


def leases_since(session: Session, since: datetime) -> Sequence[AnyRow]:
    """Leases since then: (provider, number). Their keys are in time order."""
    query = (
        select(Slot.provider, func.count().label("number"))
        .select_from(Lease)
        .join(Slot, Slot.id == Lease.slot_id)
        .where(Lease.id > first_key(since - _SKEW), Lease.acquired_at > since)
        .group_by(Slot.provider)
    )
    return session.execute(query).all()


def workers(session: Session) -> Sequence[AnyRow]:
    """Workers that are not offline: (name, state, seconds since the last heartbeat)."""
    age = func.extract("epoch", func.now() - Worker.heartbeat_at).label("age")
    query = select(Worker.name, Worker.state, age).where(Worker.state != WorkerState.OFFLINE.value)
    return session.execute(query.order_by(Worker.name).limit(1000)).all()


def first_key(at: datetime) -> UUID:
    """The smallest UUIDv7 of that time; of 1970 for earlier ones."""
    return UUID(int=max(0, int(at.timestamp() * 1000)) << 80)
