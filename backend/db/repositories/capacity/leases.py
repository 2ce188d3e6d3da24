"""Leases: fenced, time-limited claims of slots by workers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, func, insert, or_, select, update
from sqlalchemy.orm import Session, aliased
from uuid_utils.compat import uuid7

from backend.db.models import Attempt, Episode, Lease, Node, Slot, Worker
from backend.db.models.enums import SlotState
from backend.db.repositories.common_queries import AnyRow, silent_since
from backend.domain.machines.nodes import NodeState, cluster_of
from backend.domain.model.model_wait import ModelWait
from backend.domain.model.reason import ReasonCode


def free_slots(session: Session, worker: Worker, provider: str, n: int) -> list[Slot]:
    """Up to `n` free slots that the worker may lease, locked.

    Slots of its own machine or, for a cluster's provider, of that cluster's ready nodes, starting with the node with
    the fewest desktops. Fewer are returned if others take some concurrently.
    """
    ranked = _rank_free_slots(worker, provider).subquery()
    query = (
        select(Slot)
        .join(ranked, ranked.c.id == Slot.id)
        .order_by(ranked.c.last, ranked.c.rank, Slot.index, Slot.id)
        .limit(n)
        .with_for_update(skip_locked=True, key_share=True, of=Slot)
    )
    slots = list(session.scalars(query))
    # A slot may have been leased and committed after this query started, before it was locked.
    leases = select(Lease.slot_id).where(Lease.slot_id.in_([slot.id for slot in slots]), Lease.released_at.is_(None))
    leased_ids = set(session.scalars(leases))
    return [slot for slot in slots if slot.id not in leased_ids]


def _rank_free_slots(worker: Worker, provider: str) -> Select[tuple[UUID, int, bool]]:
    """Free slots, each with the number of desktops on its node after taking it, and whether to use it last."""
    live = Lease.released_at.is_(None)
    is_leased = select(Lease.id).where(Lease.slot_id == Slot.id, live).exists()
    cluster = cluster_of(worker.capabilities, provider)
    other = aliased(Slot)
    busy = (
        select(other.node_id, func.count().label("desktops"))
        .join(Lease, Lease.slot_id == other.id)
        .where(live, other.provider == provider)
        .group_by(other.node_id)
        .subquery()
    )
    position = func.row_number().over(partition_by=Slot.node_id, order_by=Slot.index)
    return (
        select(
            Slot.id,
            (position + func.coalesce(busy.c.desktops, 0)).label("rank"),
            (Node.reason != "").label("last"),  # noqa: PLC1901 - SQL
        )
        .join(Node, Node.id == Slot.node_id)
        .outerjoin(busy, busy.c.node_id == Slot.node_id)
        .where(Node.cluster == cluster if cluster else Node.id == worker.node_id)
        .where(
            Node.state == NodeState.READY.value,
            Slot.provider == provider,
            Slot.state == SlotState.FREE.value,
            ~is_leased,
        )
    )


def insert_leases(session: Session, worker_id: UUID, slot_ids: Sequence[UUID]) -> list[tuple[UUID, int]]:
    """Leases these slots, which the caller has locked; (lease, token) for each, in their order."""
    rows = [{"id": uuid7(), "slot_id": slot_id, "worker_id": worker_id} for slot_id in slot_ids]
    query = insert(Lease).returning(Lease.slot_id, Lease.id, Lease.fencing_token)
    by_slot = {row.slot_id: (row.id, row.fencing_token) for row in session.execute(query, rows)}
    return [by_slot[slot_id] for slot_id in slot_ids]


def on_nodes(session: Session, cluster: str, states: Iterable[NodeState]) -> list[tuple[UUID, UUID, str]]:
    """Live leases on a cluster's nodes in these states: (lease, worker, reason of the node's state)."""
    query = (
        select(Lease.id, Lease.worker_id, Node.reason)
        .join(Slot, Slot.id == Lease.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .where(Lease.released_at.is_(None), Node.cluster == cluster, Node.state.in_([state.value for state in states]))
        .order_by(Lease.id)
    )
    return [(row[0], row[1], row[2]) for row in session.execute(query)]


def in_clusters(session: Session, worker_id: UUID) -> Sequence[AnyRow]:
    """A worker's live leases on slots of clusters, with what runs under each: the fields of LeasedNodeSlot."""
    query = (
        select(
            Lease.id,
            Slot.id,
            Node.name,
            Slot.index,
            Lease.fencing_token,
            Lease.acquired_at,
            Episode.run_id,
            Attempt.episode_id,
            Attempt.id,
        )
        .join(Slot, Slot.id == Lease.slot_id)
        .join(Node, Node.id == Slot.node_id)
        .outerjoin(Attempt, and_(Attempt.lease_id == Lease.id, Attempt.live))
        .outerjoin(Episode, Episode.id == Attempt.episode_id)
        .where(Lease.worker_id == worker_id, Lease.released_at.is_(None), Node.cluster != "")  # noqa: PLC1901 - SQL
    )
    return session.execute(query.order_by(Lease.id)).all()


def live_fences(session: Session, fences: Iterable[int]) -> set[int]:
    """Those of the tokens that belong to live leases."""
    query = select(Lease.fencing_token).where(Lease.fencing_token.in_(list(fences)), Lease.released_at.is_(None))
    return set(session.scalars(query))


def live(session: Session, slot_id: UUID) -> bool:
    """Whether the slot is leased."""
    query = select(Lease.id).where(Lease.slot_id == slot_id, Lease.released_at.is_(None))
    return session.scalar(query) is not None


def lock_idle(session: Session, lease_id: UUID) -> tuple[Lease, Slot, Worker, Node] | None:
    """The lease, locked, with its slot, worker and node; None if it was released or is in use."""
    busy = select(Attempt.id).where(Attempt.lease_id == Lease.id, Attempt.live).exists()
    query = (
        select(Lease, Slot, Worker, Node)
        .join(Slot, Slot.id == Lease.slot_id)
        .join(Worker, Worker.id == Lease.worker_id)
        .join(Node, Node.id == Slot.node_id)
        .where(Lease.id == lease_id, Lease.released_at.is_(None), ~busy)
        .with_for_update(key_share=True, of=Lease)
        .execution_options(populate_existing=True)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2], row[3])


def lock(session: Session, lease_id: UUID, *, skip_locked: bool = False) -> Lease | None:
    """The current lease, locked; with `skip_locked` None if it is locked."""
    query = select(Lease).where(Lease.id == lease_id).execution_options(populate_existing=True)
    return session.scalar(query.with_for_update(key_share=True, skip_locked=skip_locked))


def beat(session: Session, worker_id: UUID, lease_ids: Iterable[UUID]) -> set[UUID]:
    """Renews those of the leases that are live; returns them.

    The caller holds the worker's row, so nobody else locks several of its leases in another order.
    """
    query = update(Lease).where(Lease.id.in_(list(lease_ids)), Lease.worker_id == worker_id)
    query = query.where(Lease.released_at.is_(None)).values(heartbeat_at=func.now()).returning(Lease.id)
    return set(session.scalars(query.execution_options(synchronize_session=False)))


def note_waits(session: Session, worker_id: UUID, waits: Mapping[UUID, ModelWait]) -> None:
    """Stores what the attempts under a worker's leases are waiting for, where that has changed.

    The caller has just renewed these leases, so that nobody else writes them.
    """
    live = (Lease.worker_id == worker_id, Lease.released_at.is_(None))
    live_leases = select(Lease.id, Lease.model_wait, func.clock_timestamp().label("now")).where(*live)
    for lease_id, stored, now in session.execute(live_leases).all():
        wait = waits.get(lease_id)
        if stored is None if wait is None else wait.same(stored):
            continue
        reason = ReasonCode.MODEL_RATE_LIMIT.value if wait is not None and wait.limited else ""
        values = {"wait_reason": reason, "model_wait": None if wait is None else _stored_wait(wait, now)}
        query = update(Lease).where(*live, Lease.id == lease_id).values(values)
        session.execute(query.execution_options(synchronize_session=False))


def _stored_wait(wait: ModelWait, now: datetime) -> dict[str, object]:
    """With times by the database's clock in place of seconds: the worker's may differ."""
    retry = None if wait.retry_seconds is None else now + timedelta(seconds=wait.retry_seconds)
    return {
        **wait.model_dump(exclude={"seconds", "retry_seconds"}),
        "since": (now - timedelta(seconds=wait.seconds)).isoformat(),
        "retry_at": None if retry is None else retry.isoformat(),
    }


def model_waits(session: Session) -> Sequence[AnyRow]:
    """Waits of live attempts for models: (model_wait, run, episode)."""
    query = (
        select(Lease.model_wait, Episode.run_id, Episode.id.label("episode_id"))
        .join(Attempt, and_(Attempt.lease_id == Lease.id, Attempt.live))
        .join(Episode, Episode.id == Attempt.episode_id)
        .where(Lease.released_at.is_(None), Lease.model_wait.is_not(None))
    )
    return session.execute(query).all()


def live_marks(session: Session, run_id: UUID | None = None) -> frozenset[tuple[Any, ...]]:
    """The waits and heartbeats of live attempts that a page shows: equal as long as the page would not change.

    Args:
        session: the transaction.
        run_id: only attempts of this run.
    """
    silent_now = silent_since()
    words = [Lease.model_wait[name].astext for name in ("call", "failures", "retry_at")]
    query = (
        select(Lease.id, *words, silent_now.is_not(None))
        .join(Attempt, and_(Attempt.lease_id == Lease.id, Attempt.live))
        .where(Lease.released_at.is_(None), or_(Lease.model_wait.is_not(None), silent_now.is_not(None)))
    )
    if run_id is not None:
        query = query.join(Episode, Episode.id == Attempt.episode_id).where(Episode.run_id == run_id)
    return frozenset(tuple(row) for row in session.execute(query))


def silent(session: Session, before: datetime) -> list[UUID]:
    """Live leases without a heartbeat since `before`."""
    query = select(Lease.id).where(Lease.released_at.is_(None), Lease.heartbeat_at < before)
    return list(session.scalars(query.order_by(Lease.id)))


def of_worker(session: Session, worker_id: UUID) -> list[UUID]:
    """A worker's live leases."""
    query = select(Lease.id).where(Lease.released_at.is_(None), Lease.worker_id == worker_id)
    return list(session.scalars(query.order_by(Lease.id)))


def release(session: Session, lease: Lease, reason: str, at: datetime) -> None:
    """Ends a lease that the caller has locked."""
    lease.released_at = at
    lease.release_reason = reason
    session.flush()  # Others may lease the slot only after the row is written.
