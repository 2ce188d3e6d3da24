"""Leases: a worker's fenced hold on a slot."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.db.models import Attempt, Lease, Node, Slot, Worker
from backend.db.models.words import NodeState, SlotState


def free_slot(session: Session, node_id: UUID, provider: str) -> Slot | None:
    """A slot that may be leased and is not, locked against others who look for one."""
    held = select(Lease.id).where(Lease.slot_id == Slot.id, Lease.released_at.is_(None)).exists()
    query = (
        select(Slot)
        .join(Node, Node.id == Slot.node_id)
        .where(Slot.node_id == node_id, Slot.provider == provider, Slot.state == SlotState.FREE.value, ~held)
        .where(Node.state == NodeState.READY.value)
        .order_by(Slot.index)
        .limit(1)
    )
    return session.scalar(query.with_for_update(skip_locked=True, key_share=True, of=Slot))


def live(session: Session, slot_id: UUID) -> bool:
    """Whether somebody holds the slot."""
    query = select(Lease.id).where(Lease.slot_id == slot_id, Lease.released_at.is_(None))
    return session.scalar(query) is not None


def lock_idle(session: Session, lease_id: UUID) -> tuple[Lease, Slot, Worker] | None:
    """The lease with its slot and worker, locked; None if it was released or carries an attempt."""
    busy = select(Attempt.id).where(Attempt.lease_id == Lease.id, Attempt.live).exists()
    query = (
        select(Lease, Slot, Worker)
        .join(Slot, Slot.id == Lease.slot_id)
        .join(Worker, Worker.id == Lease.worker_id)
        .where(Lease.id == lease_id, Lease.released_at.is_(None), ~busy)
        .with_for_update(key_share=True, of=Lease)
        .execution_options(populate_existing=True)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


def lock(session: Session, lease_id: UUID, *, skip_locked: bool = False) -> Lease | None:
    """The lease as it is now, locked; with `skip_locked` None if somebody else works on it."""
    query = select(Lease).where(Lease.id == lease_id).execution_options(populate_existing=True)
    return session.scalar(query.with_for_update(key_share=True, skip_locked=skip_locked))


def beat(session: Session, worker_id: UUID, lease_ids: Iterable[UUID]) -> set[UUID]:
    """Renews the worker's live leases among these; returns those that are live.

    The caller holds the worker's row, so that nobody else locks several of its leases in another order.
    """
    query = update(Lease).where(Lease.id.in_(list(lease_ids)), Lease.worker_id == worker_id)
    query = query.where(Lease.released_at.is_(None)).values(heartbeat_at=func.now()).returning(Lease.id)
    return set(session.scalars(query.execution_options(synchronize_session=False)))


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
    session.flush()  # Others may lease the slot only after the row says so.
