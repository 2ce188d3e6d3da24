"""Workers and their slots; health."""

from fastapi import APIRouter, Response
from sqlalchemy import text

from backend.domain.errors import Unavailable
from backend.services import pages_workers
from backend.services.events import broker_state
from backend.web.api import schemas
from backend.web.api.common import api_router
from backend.web.api.schemas_catalog import Health, SlotView, WorkerView
from backend.web.edge import EdgeDep, SessionDep

router = api_router("workers")
health_router = APIRouter(tags=["health"])


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


@health_router.get("/healthz", responses={503: {"model": Health, "description": "The database is away."}})
def health(edge: EdgeDep, response: Response) -> Health:
    """Whether the service can do its work.

    `degraded` without the broker: slower, nothing is lost. `down` (503) without the database.
    """
    broker = broker_state()
    version = edge.version
    try:
        with edge.factory() as session:
            online = session.scalar(text("SELECT count(*) FROM worker WHERE state = 'online'")) or 0
    except Exception as error:
        from backend.web.errors import as_ours

        ours = as_ours(error)
        if not isinstance(ours, Unavailable):
            raise
        response.status_code = 503
        return Health(status="down", version=version, database="away", broker=broker)
    status = "ok" if broker == "ok" else "degraded"
    return Health(status=status, version=version, database="ok", broker=broker, workers=online)
