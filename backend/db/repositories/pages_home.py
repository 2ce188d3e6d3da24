"""Queries of the home page."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.db.models import Agent, Attempt, Episode, Lease, Node, Quarantine, Run, Slot, Task, Worker
from backend.db.repositories.pages_common import AnyRow, run_columns


def slots(session: Session) -> Sequence[AnyRow]:
    """Every slot of nodes that have an online worker: (provider, state, leased)."""
    online = select(Worker.node_id).where(Worker.state != "offline")
    leased = select(Lease.id).where(Lease.slot_id == Slot.id, Lease.released_at.is_(None)).exists()
    query = (
        select(Slot.provider, Slot.state, leased.label("leased"), func.count().label("n"))
        .where(Slot.node_id.in_(online))
        .group_by(Slot.provider, Slot.state, leased)
    )
    return session.execute(query).all()


def waiting(session: Session) -> Sequence[AnyRow]:
    """Waiting episodes: (run state, reason, held back until later, provider, licences, n)."""
    later = Episode.available_at > func.now()
    query = (
        select(
            Run.state.label("run_state"),
            Episode.reason,
            later.label("later"),
            Run.provider,
            Task.licences,
            func.count().label("n"),
        )
        .join(Run, Run.id == Episode.run_id)
        .join(Task, Task.id == Episode.task_id)
        .where(Episode.state == "waiting", Run.state.in_(["queued", "running", "paused"]))
        .group_by(Run.state, Episode.reason, later, Run.provider, Task.licences)
        .order_by(func.count().desc())
    )
    return session.execute(query).all()


def ended_in_a_day(session: Session) -> int:
    """Episodes that ended in the last 24 hours."""
    query = select(func.count()).where(Episode.ended_at > func.now() - func.make_interval(0, 0, 0, 1))
    return session.scalar(query) or 0


def latest_runs(session: Session, limit: int) -> Sequence[AnyRow]:
    """The newest runs."""
    return session.execute(run_columns().order_by(Run.id.desc()).limit(limit)).all()


def flagged(session: Session, limit: int) -> Sequence[AnyRow]:
    """Episodes that wait for a person's look, newest first."""
    query = (
        select(Episode, Task, func.coalesce(func.nullif(Run.name, ""), Agent.name).label("title"))
        .join(Task, Task.id == Episode.task_id)
        .join(Run, Run.id == Episode.run_id)
        .join(Agent, Agent.id == Run.agent_id)
        .where(Episode.flagged)
        .order_by(Episode.id.desc())
        .limit(limit)
    )
    return session.execute(query).all()


def quarantined(session: Session, limit: int) -> Sequence[AnyRow]:
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
    """Slots that cannot be used, with the node's name."""
    query = select(Slot, Node.name).join(Node, Node.id == Slot.node_id).where(Slot.state == "broken")
    return session.execute(query).all()


def lost_workers(session: Session) -> Sequence[Worker]:
    """Workers that went away in the last hour while they held an attempt."""
    recent = func.now() - func.make_interval(0, 0, 0, 0, 1)
    held = select(Attempt.id).where(
        Attempt.worker_id == Worker.id, Attempt.failure_class == "cluster", Attempt.ended_at > recent
    )
    query = select(Worker).where(Worker.state == "offline", Worker.heartbeat_at > recent, held.exists())
    return session.scalars(query.order_by(Worker.heartbeat_at.desc()).limit(10)).all()
