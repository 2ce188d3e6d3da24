"""Workers, nodes, slots."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Lease, Node, Slot, Worker
from backend.db.models.enums import SlotState, WorkerState
from backend.domain.machines.nodes import NodeState


def now(session: Session) -> datetime:
    """The database's clock, by which leases are measured."""
    return session.scalars(select(func.now())).one()


def server_started(session: Session) -> datetime:
    """When the database's server was started."""
    started_at: datetime = session.scalars(select(func.pg_postmaster_start_time())).one()
    return started_at


def node(session: Session, name: str) -> Node:
    """The machine of that name, created if missing."""
    row = {"id": uuid7(), "name": name, "labels": {}, "state": NodeState.READY.value}
    session.execute(insert(Node).values(row).on_conflict_do_nothing())
    return session.scalars(select(Node).where(Node.cluster == "", Node.name == name)).one()  # noqa: PLC1901 - SQL


def node_names(session: Session, node_ids: Collection[UUID]) -> dict[UUID, str]:
    """Names of nodes in their cluster."""
    return {row.id: row.name for row in session.execute(select(Node.id, Node.name).where(Node.id.in_(node_ids)))}


def slots(session: Session, node_id: UUID) -> list[Slot]:
    """A node's slots, in order."""
    return list(session.scalars(select(Slot).where(Slot.node_id == node_id).order_by(Slot.provider, Slot.index)))


def cluster_slots(session: Session, cluster: str, provider: str) -> list[Slot]:
    """A cluster's slots of a provider, in order, locked for the transaction."""
    query = select(Slot).join(Node, Node.id == Slot.node_id).where(Node.cluster == cluster, Slot.provider == provider)
    return list(session.scalars(query.order_by(Slot.id).with_for_update(key_share=True, of=Slot)))


def make_slot(session: Session, node_id: UUID, provider: str, index: int) -> None:
    """Creates a slot, or reopens a draining one."""
    row = {"id": uuid7(), "node_id": node_id, "provider": provider, "index": index, "state": SlotState.FREE.value}
    query = insert(Slot).values({**row, "reason": ""})
    session.execute(
        query.on_conflict_do_update(
            index_elements=["node_id", "provider", "index"],
            set_={"state": SlotState.FREE.value, "reason": ""},
            where=Slot.state == SlotState.DRAINING.value,
        )
    )


def get(session: Session, worker_id: UUID, *, lock: bool = False) -> Worker | None:
    """The current worker."""
    query = select(Worker).where(Worker.id == worker_id).execution_options(populate_existing=True)
    return session.scalar(query.with_for_update(key_share=True) if lock else query)


def beat(session: Session, worker_id: UUID) -> str | None:
    """Renews the worker's heartbeat; one that was marked offline is online again. Returns its state."""
    state = select(Worker.state).where(Worker.id == worker_id).scalar_subquery()
    back = func.coalesce(func.nullif(state, WorkerState.OFFLINE.value), WorkerState.ONLINE.value)
    query = update(Worker).where(Worker.id == worker_id).values(heartbeat_at=func.now(), state=back)
    return session.scalar(query.returning(Worker.state).execution_options(synchronize_session=False))


def give_up_silent(session: Session, before: datetime) -> list[UUID]:
    """Marks workers without a heartbeat since `before` as offline."""
    silent = select(Worker.id).where(Worker.heartbeat_at < before, Worker.state != WorkerState.OFFLINE.value)
    locked = silent.with_for_update(skip_locked=True, key_share=True).scalar_subquery()
    query = update(Worker).where(Worker.id.in_(locked)).values(state=WorkerState.OFFLINE.value).returning(Worker.id)
    return list(session.scalars(query.execution_options(synchronize_session=False)))


def bring_back(session: Session, now: datetime, after: datetime) -> int:
    """Sets heartbeats of live workers and leases that are later than `after` to now, after the clock went back.

    Returns:
        Their number. The caller now holds their locks, taken in no order, and must not take others.
    """
    number = 0
    for table, live in ((Worker, Worker.state != WorkerState.OFFLINE.value), (Lease, Lease.released_at.is_(None))):
        ahead = select(table.id).where(live, table.heartbeat_at > after)
        locked = ahead.with_for_update(skip_locked=True, key_share=True).scalar_subquery()
        query = update(table).where(table.id.in_(locked)).values(heartbeat_at=now).returning(table.id)
        number += len(session.scalars(query.execution_options(synchronize_session=False)).all())
    return number


def hold(session: Session, worker_ids: Iterable[UUID]) -> None:
    """Locks the rows of these workers in a fixed order: locking several leases requires their worker's row first."""
    query = select(Worker.id).where(Worker.id.in_(list(worker_ids))).order_by(Worker.id)
    session.execute(query.with_for_update(key_share=True))


def on_host(session: Session, host: str) -> list[Worker]:
    """Workers of this host that are not offline."""
    return list(session.scalars(select(Worker).where(Worker.host == host, Worker.state != WorkerState.OFFLINE.value)))


def alive_since(session: Session, since: datetime) -> list[Worker]:
    """Workers with a heartbeat after `since`, newest first."""
    return list(session.scalars(select(Worker).where(Worker.heartbeat_at >= since).order_by(Worker.id.desc())))


def providers_by_name(session: Session) -> set[str]:
    """Names of providers of any worker or slot."""
    offers = Worker.capabilities["providers"]
    names = select(func.jsonb_object_keys(offers)).where(func.jsonb_typeof(offers) == "object").distinct()
    return {*session.scalars(names), *session.scalars(select(Slot.provider).distinct())}
