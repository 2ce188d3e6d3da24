"""Nodes of clusters and their slots."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Node, Slot
from backend.db.models.words import SlotState

SEEN_SECONDS = 20.0
"""Many workers see the same nodes: each is written so rarely at most."""
FEWER = "the node offers fewer slots now"


def lock_cluster(session: Session, cluster: str) -> None:
    """From here to the transaction's end nobody else writes this cluster's nodes."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"nodes of {cluster}", 0))))


def of_cluster(session: Session, cluster: str) -> dict[str, Node]:
    """A cluster's nodes by name, those that are gone too."""
    query = select(Node).where(Node.cluster == cluster).execution_options(populate_existing=True)
    return {node.name: node for node in session.scalars(query)}


def seen(session: Session, node_ids: Iterable[UUID]) -> None:
    """Notes that they were seen just now; not again where somebody did within the last seconds."""
    stale = Node.seen_at < func.now() - func.make_interval(0, 0, 0, 0, 0, 0, SEEN_SECONDS)
    query = update(Node).where(Node.id.in_(list(node_ids)), stale).values(seen_at=func.now())
    session.execute(query.execution_options(synchronize_session=False))


def slot_numbers(session: Session, cluster: str, provider: str) -> dict[UUID, int]:
    """How many slots each node of a cluster offers; nodes that offer none are not in it."""
    query = (
        select(Slot.node_id, func.count())
        .join(Node, Node.id == Slot.node_id)
        .where(Node.cluster == cluster, Slot.provider == provider, Slot.state != SlotState.DRAINING.value)
        .group_by(Slot.node_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def offer_slots(session: Session, provider: str, wanted: Sequence[tuple[UUID, int]]) -> None:
    """Slots 0 to n - 1 of each node are offered, those beyond not any more; a broken one stays as it is.

    Args:
        session: the transaction.
        provider: whose slots.
        wanted: (node, n).
    """
    rows = [
        {"id": uuid7(), "node_id": node, "provider": provider, "index": index, "state": SlotState.FREE.value}
        for node, number in wanted
        for index in range(number)
    ]
    if rows:
        query = insert(Slot).on_conflict_do_update(
            index_elements=["node_id", "provider", "index"],
            set_={"state": SlotState.FREE.value, "reason": ""},
            where=Slot.state == SlotState.DRAINING.value,
        )
        session.execute(query, [{**row, "reason": ""} for row in rows])
    for node, number in wanted:
        beyond = (Slot.node_id == node, Slot.provider == provider, Slot.index >= number)
        free = update(Slot).where(*beyond, Slot.state == SlotState.FREE.value)
        free = free.values(state=SlotState.DRAINING.value, reason=FEWER)
        session.execute(free.execution_options(synchronize_session=False))
