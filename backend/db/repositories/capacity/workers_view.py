"""Queries of the page about workers."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, func, literal, or_, select
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Lease, Node, Slot, Task, Worker
from backend.db.repositories.common_queries import AnyRow
from backend.domain.machines.nodes import NodeState


def workers(session: Session) -> Sequence[AnyRow]:
    """Current workers, and those that left within the last day: (Worker, node name, age of heartbeat)."""
    recent = func.now() - func.make_interval(0, 0, 0, 1)
    age = func.extract("epoch", func.now() - Worker.heartbeat_at)
    query = (
        select(Worker, Node.name.label("node"), age.label("age"))
        .join(Node, Node.id == Worker.node_id)
        .where(or_(Worker.state != "offline", Worker.heartbeat_at > recent))
        .order_by(Worker.state == "offline", Node.name, Worker.heartbeat_at.desc())
        .limit(200)
    )
    return session.execute(query).all()


def marks(session: Session) -> frozenset[tuple[Any, ...]]:
    """Which workers accept work, and which slots are broken: equal until one comes or goes."""
    online = select(Worker.id, literal("worker")).where(Worker.state == "online")
    broken = select(Slot.id, literal("slot")).where(Slot.state == "broken")
    return frozenset(tuple(row) for row in session.execute(online.union_all(broken)))


def slots(session: Session) -> Sequence[AnyRow]:
    """Every slot with its node and its running attempt; without slots of nodes that are gone."""
    query = (
        select(Slot, Node, Lease, Worker.name.label("worker"), Attempt, Episode.id.label("episode_id"), Task)
        .join(Node, Node.id == Slot.node_id)
        .outerjoin(Lease, and_(Lease.slot_id == Slot.id, Lease.released_at.is_(None)))
        .outerjoin(Worker, Worker.id == Lease.worker_id)
        .outerjoin(Attempt, and_(Attempt.lease_id == Lease.id, Attempt.live))
        .outerjoin(Episode, Episode.id == Attempt.episode_id)
        .outerjoin(Task, Task.id == Episode.task_id)
        .where(or_(Node.state != NodeState.GONE.value, Lease.id.is_not(None)))
        .order_by(Node.cluster, Node.name, Slot.provider, Slot.index)
        .limit(2000)
    )
    return session.execute(query).all()


def nodes(session: Session) -> Sequence[AnyRow]:
    """(Node, age in seconds) of all nodes, except those gone for a day."""
    age = func.extract("epoch", func.now() - Node.last_seen_at).label("age")
    recent = func.now() - func.make_interval(0, 0, 0, 1)
    query = select(Node, age).where(or_(Node.state != NodeState.GONE.value, Node.last_seen_at > recent))
    return session.execute(query.order_by(Node.cluster, Node.name).limit(2000)).all()


def capabilities(session: Session) -> Sequence[AnyRow]:
    """(name, capabilities) of every worker that accepts work."""
    query = select(Worker.name, Worker.node_id, Worker.capabilities).where(Worker.state == "online")
    return session.execute(query.order_by(Worker.name)).all()
