"""Queries of the home page."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, and_, any_, case, func, literal, or_, select
from sqlalchemy.orm import Session, aliased

from backend.db.models import AgentConfiguration, Attempt, Episode, Lease, Node, Quarantine, Run, Slot, Task, Worker
from backend.db.models.enums import SlotState
from backend.db.repositories.common_queries import AnyRow, run_columns, silent_since
from backend.db.repositories.scheduling.autoscaling_signals import served
from backend.domain.machines.nodes import NodeState
from backend.domain.model.reason import ReasonCode
from backend.domain.scheduling.wait_reasons import NEVER

HELD_BACK = datetime(NEVER, 1, 1, tzinfo=UTC)
"""Start times from this one on mean that an episode does not start by itself."""


def slots(session: Session) -> Sequence[AnyRow]:
    """Every slot of clusters and of machines that have a worker: (provider, state or `closed`, leased)."""
    online = select(Worker.node_id).where(Worker.state != "offline")
    leased = select(Lease.id).where(Lease.slot_id == Slot.id, Lease.released_at.is_(None)).exists()
    # On a node that is not ready, or without an online worker, nothing starts, whatever the state of its slots.
    closed = and_(Slot.state == SlotState.FREE.value, or_(Node.state != NodeState.READY.value, ~served()))
    state = case((closed, "closed"), else_=Slot.state)
    registered = and_(Node.cluster != "", Node.state != NodeState.GONE.value)
    query = (
        select(Slot.provider, state.label("state"), leased.label("leased"), func.count().label("n"))
        .join(Node, Node.id == Slot.node_id)
        .where(or_(registered, Node.id.in_(online)))
        .group_by(Slot.provider, state, leased)
    )
    return session.execute(query).all()


def waiting(session: Session, apart: Collection[UUID] = ()) -> Sequence[AnyRow]:
    """Waiting episodes: (run, its state, why they are held or left to others, whether until later, ...).

    Further columns: provider, requirements of their tasks, whether these are among `apart`, number.
    """
    later = Episode.available_at > func.now()
    # The last attempt's result is not a reason to wait once the pause is over.
    has_reason = or_(Episode.available_at >= HELD_BACK, Episode.reason_code == ReasonCode.WORKER_CANNOT_READ.value)
    reason, code = case((has_reason, Episode.reason), else_=""), case((has_reason, Episode.reason_code))
    among = Episode.task_id == any_(literal(list(apart), ARRAY(Uuid)))
    query = (
        select(
            Run.id.label("run_id"),
            Run.state.label("run_state"),
            reason.label("reason"),
            code.label("reason_code"),
            later.label("later"),
            Run.provider,
            Episode.requirements_id,
            among.label("apart"),
            func.count().label("n"),
        )
        .join(Run, Run.id == Episode.run_id)
        .where(Episode.state == "waiting", Run.state.in_(["queued", "running", "paused"]))
        .group_by(Run.id, reason, code, later, Run.provider, Episode.requirements_id, among)
        .order_by(func.count().desc())
    )
    return session.execute(query).all()


def ended_in_a_day(session: Session) -> int:
    """Episodes that ended in the last 24 hours."""
    query = select(func.count()).where(Episode.ended_at > func.now() - func.make_interval(0, 0, 0, 1))
    return session.scalar(query) or 0


def latest_runs(session: Session, limit: int) -> Sequence[AnyRow]:
    return session.execute(run_columns().order_by(Run.id.desc()).limit(limit)).all()


def flagged_episodes(session: Session, limit: int) -> Sequence[AnyRow]:
    """Flagged episodes, newest first."""
    query = (
        select(Episode, Task, func.coalesce(func.nullif(Run.name, ""), AgentConfiguration.title).label("title"))
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .where(Episode.flagged)
        .order_by(Episode.id.desc())
        .limit(limit)
    )
    return session.execute(query).all()


def quarantined_tasks(session: Session, limit: int) -> Sequence[AnyRow]:
    """Tasks in quarantine, newest first."""
    query = (
        select(Quarantine, Task)
        .join(Task, Task.id == Quarantine.task_id)
        .where(Quarantine.lifted_at.is_(None))
        .order_by(Quarantine.created_at.desc())
        .limit(limit)
    )
    return session.execute(query).all()


def broken_slots(session: Session) -> Sequence[AnyRow]:
    """Unusable slots with the node's name."""
    query = select(Slot, Node.name).join(Node, Node.id == Slot.node_id).where(Slot.state == "broken")
    return session.execute(query).all()


def lost_workers(session: Session, codes: Collection[str]) -> Sequence[Worker]:
    """Workers that left within the last hour with an attempt lost with one of the codes.

    One is done with when another has worked on its machine for five minutes since: one that keeps dying is not.
    """
    recent = func.now() - func.make_interval(0, 0, 0, 0, 1)
    lost = (Attempt.failure_code.in_(codes), Attempt.ended_at > recent)
    lost_attempts = select(Attempt.id).where(Attempt.worker_id == Worker.id, *lost)
    other = aliased(Worker)
    replaced = select(other.id).where(
        other.node_id == Worker.node_id,
        other.state == "online",
        other.started_at > Worker.heartbeat_at,
        other.started_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 5),
    )
    query = select(Worker).where(
        Worker.state == "offline", Worker.heartbeat_at > recent, lost_attempts.exists(), ~replaced.exists()
    )
    return session.scalars(query.order_by(Worker.heartbeat_at.desc()).limit(10)).all()


def silent_workers(session: Session) -> Sequence[AnyRow]:
    """Workers with a running attempt whose last heartbeat is late: (name, its time)."""
    silent = silent_since()
    query = (
        select(Worker.name, func.min(silent).label("silent_since"))
        .join(Lease, Lease.worker_id == Worker.id)
        .where(Lease.released_at.is_(None), Worker.state != "offline", silent.is_not(None))
        .group_by(Worker.name)
    )
    return session.execute(query.order_by(Worker.name)).all()
