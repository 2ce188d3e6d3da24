"""Workers and their slots."""

from backend.services.capacity.views.workers import NodeView, WorkerView, list_nodes, list_workers
from backend.web.api_common import Page, api_router
from backend.web.dependencies import SessionDep

router = api_router("workers")


@router.get("/workers")
def workers(session: SessionDep) -> Page[WorkerView]:
    """List workers that were online within the last day."""
    return Page[WorkerView](items=list_workers(session))


@router.get("/nodes")
def nodes(session: SessionDep) -> Page[NodeView]:
    """List machines and cluster nodes of the last day with their slots and lease holders."""
    return Page[NodeView](items=list_nodes(session))
