"""Leases: a worker's fenced hold on a slot."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.db.models import Lease, Node, Slot
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


def lock(session: Session, lease_id: UUID, *, skip_locked: bool = False) -> Lease | None:
    """The lease as it is now, locked; with `skip_locked` None if somebody else works on it."""
    query = select(Lease).where(Lease.id == lease_id).execution_options(populate_existing=True)
    return session.scalar(query.with_for_update(key_share=True, skip_locked=skip_locked))


def beat(session: Session, worker_id: UUID, lease_ids: Iterable[UUID]) -> set[UUID]:
    """Renews the worker's live leases among these, one by one and in order; returns those that are live."""
    kept: set[UUID] = set()
    for lease_id in sorted(lease_ids):
        query = update(Lease).where(Lease.id == lease_id, Lease.worker_id == worker_id, Lease.released_at.is_(None))
        query = query.values(heartbeat_at=func.now()).execution_options(synchronize_session=False)
        kept.update(session.scalars(query.returning(Lease.id)))
    return kept


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
