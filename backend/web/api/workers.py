"""Workers and their slots."""

from backend.services import pages_workers
from backend.web.api import schemas
from backend.web.api.common import api_router
from backend.web.api.schemas_catalog import HeldSlot, NodeView, SlotView, WorkerView
from backend.web.edge import SessionDep

router = api_router("workers")


@router.get("/workers")
def workers(session: SessionDep) -> schemas.Page[WorkerView]:
    """List workers that are online, and those that went away within a day."""
    page = pages_workers.workers_page(session)
    slots: dict[str, list[SlotView]] = {
        node.name: [
            SlotView(
                node=node.name,
                provider=slot.provider,
                index=slot.index,
                state=slot.state,
                attempt_id=slot.attempt_id,
                episode_id=slot.episode_id,
            )
            for slot in node.slots
        ]
        for node in page.machines
    }
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
            slots=slots.get(row.node, []),
            started_at=row.started_at,
            heartbeat_at=row.heartbeat_at,
        )
        for row in page.workers
    ]
    return schemas.Page[WorkerView](items=items)


@router.get("/nodes")
def nodes(session: SessionDep) -> schemas.Page[NodeView]:
    """List machines and nodes of clusters with their slots, and who holds what; those that went within a day, too."""
    items = [
        NodeView(
            cluster=node.cluster,
            name=node.name,
            state=node.state,
            reason=node.reason,
            seen_seconds=node.age,
            labels={name: str(value) for name, value in node.labels.items()},
            capacity=dict(node.capacity),
            slots=[
                HeldSlot(
                    node=node.name,
                    provider=slot.provider,
                    index=slot.index,
                    state=slot.state,
                    reason=slot.reason,
                    worker=slot.worker,
                    task=slot.task,
                    since=slot.since,
                    attempt_id=slot.attempt_id,
                    episode_id=slot.episode_id,
                )
                for slot in node.slots
            ],
        )
        for node in pages_workers.list_nodes(session)
    ]
    return schemas.Page[NodeView](items=items)
