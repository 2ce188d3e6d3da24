"""Nodes of clusters and their slots."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Attempt, Episode, Lease, Node, Run, Slot, Task, Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.scheduling.autoscaling_signals import first_key

_LONGEST_ATTEMPT = timedelta(days=1)
SEEN_SECONDS = 20.0
"""Minimum interval of writing a node: many workers see the same nodes."""
FEWER = "the node offers fewer slots now"


def lock_cluster(session: Session, cluster: str) -> None:
    """Locks this cluster's nodes until the transaction ends."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"nodes of {cluster}", 0))))


def of_cluster(session: Session, cluster: str) -> dict[str, Node]:
    """A cluster's nodes by name, including those that are gone."""
    query = select(Node).where(Node.cluster == cluster).execution_options(populate_existing=True)
    return {node.name: node for node in session.scalars(query)}


def touch(session: Session, node_ids: Iterable[UUID]) -> None:
    """Records that nodes were seen now; skipped if recorded seconds ago."""
    stale = Node.last_seen_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, SEEN_SECONDS)
    query = update(Node).where(Node.id.in_(list(node_ids)), stale).values(last_seen_at=func.now())
    session.execute(query.execution_options(synchronize_session=False))


def unseen(session: Session, cluster: str, seconds: float) -> set[str]:
    """Names of a cluster's nodes not seen for so long, by the database's clock."""
    since = func.now() - func.make_interval(0, 0, 0, 0, 0, 0, seconds)
    return set(session.scalars(select(Node.name).where(Node.cluster == cluster, Node.last_seen_at <= since)))


def slot_numbers(session: Session, cluster: str, provider: str) -> dict[UUID, int]:
    """Number of slots by node of a cluster; nodes without slots are missing."""
    query = (
        select(Slot.node_id, func.count())
        .join(Node, Node.id == Slot.node_id)
        .where(Node.cluster == cluster, Slot.provider == provider, Slot.state != SlotState.DRAINING.value)
        .group_by(Slot.node_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def offer_slots(session: Session, provider: str, numbers: Sequence[tuple[UUID, int]]) -> None:
    """Offers slots 0 to n - 1 of each node and withdraws others; broken ones stay as they are.

    Args:
        session: the transaction.
        provider: provider of the slots.
        numbers: (node, n).
    """
    rows = [
        {"id": uuid7(), "node_id": node, "provider": provider, "index": index, "state": SlotState.FREE.value}
        for node, number in numbers
        for index in range(number)
    ]
    if rows:
        query = insert(Slot).on_conflict_do_update(
            index_elements=["node_id", "provider", "index"],
            set_={"state": SlotState.FREE.value, "reason": ""},
            where=Slot.state == SlotState.DRAINING.value,
        )
        session.execute(query, [{**row, "reason": ""} for row in rows])
    for node, number in numbers:
        beyond = (Slot.node_id == node, Slot.provider == provider, Slot.index >= number)
        free = update(Slot).where(*beyond, Slot.state == SlotState.FREE.value)
        free = free.values(state=SlotState.DRAINING.value, reason=FEWER)
        session.execute(free.execution_options(synchronize_session=False))


def first_worker(session: Session, cluster: str, provider: str) -> UUID | None:
    """The longest-running online worker of a cluster, which performs tasks that only one should do."""
    its = Worker.capabilities["providers"][provider]["cluster"].astext
    query = select(Worker.id).where(Worker.state == WorkerState.ONLINE.value, its == cluster)
    return session.scalar(query.order_by(Worker.id).limit(1))


def slots_now(session: Session, cluster: str, provider: str) -> Sequence[AnyRow]:
    """A cluster's slots: (id, node, index, state, state of its node, whether it is leased)."""
    live = and_(Lease.slot_id == Slot.id, Lease.released_at.is_(None))
    query = (
        select(Slot.id, Node.name, Slot.index, Slot.state, Node.state.label("node_state"), Lease.id.is_not(None))
        .join(Node, Node.id == Slot.node_id)
        .outerjoin(Lease, live)
        .where(Node.cluster == cluster, Slot.provider == provider)
    )
    return session.execute(query).all()


def last_used(session: Session, cluster: str, provider: str, since: datetime) -> AnyRow | None:
    """Last use of a cluster's slots: (run, its config, system of the task); None if older.

    A running attempt counts as now.
    """
    query = (
        select(Run.id, Run.config, Task.os)
        .select_from(Attempt)
        .join(Slot, Slot.id == Attempt.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .join(Episode, Episode.id == Attempt.episode_id)
        .join(Run, Run.id == Episode.run_id)
        .join(Task, Task.id == Episode.task_id)
        .where(Node.cluster == cluster, Slot.provider == provider, Attempt.id > first_key(since - _LONGEST_ATTEMPT))
        .where(or_(Attempt.live, Attempt.ended_at > since))
    )
    return session.execute(query.order_by(Attempt.id.desc()).limit(1)).first()
