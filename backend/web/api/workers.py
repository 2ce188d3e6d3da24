"""Workers and their slots."""

from backend.services import pages_workers
from backend.web.api import schemas
from backend.web.api.common import api_router
from backend.web.api.schemas_catalog import SlotView, WorkerView
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
        for node in page.nodes
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
