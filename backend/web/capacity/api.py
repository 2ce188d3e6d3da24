"""Workers and their slots."""

from collections.abc import Iterable
from typing import TypeVar

from backend.services.capacity.views import workers as workers_view
from backend.web.api_common import Page, api_router
from backend.web.benchmarks.schemas import LeasedSlotView, NodeView, SlotView, WorkerView
from backend.web.dependencies import SessionDep

router = api_router("workers")
S = TypeVar("S", bound=SlotView)


@router.get("/workers")
def workers(session: SessionDep) -> Page[WorkerView]:
    """List workers that are online, and those that went away within a day."""
    page = workers_view.workers_page(session)
    machines = {node.name: node for node in page.machines}
    items = [
        WorkerView(
            id=row.id,
            name=row.name,
            node=row.node,
            host=row.host,
            pid=row.pid,
            version=row.version,
            state=row.state,
            capabilities=dict(row.capabilities),
            slots=_slots(machines[row.node], machines[row.node].seen_from(row), SlotView)
            if row.node in machines
            else [],
            started_at=row.started_at,
            heartbeat_at=row.heartbeat_at,
        )
        for row in page.workers
    ]
    return Page[WorkerView](items=items)


@router.get("/nodes")
def nodes(session: SessionDep) -> Page[NodeView]:
    """List machines and nodes of clusters with their slots, and who holds what; those that went within a day, too."""
    items = [
        NodeView(
            cluster=node.cluster,
            name=node.name,
            state=node.state,
            reason=node.reason,
            last_seen_seconds=node.age,
            labels={name: str(value) for name, value in node.labels.items()},
            capacity=dict(node.capacity),
            slots=_slots(node, node.slots, LeasedSlotView),
        )
        for node in workers_view.list_nodes(session)
    ]
    return Page[NodeView](items=items)


def _slots(node: workers_view.NodeRow, slots: Iterable[workers_view.SlotRow], view: type[S]) -> list[S]:
    """Slots of a node as in the API."""
    return [view.model_validate({"node": node.name, **vars(slot)}) for slot in slots]
