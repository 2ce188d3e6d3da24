"""Workers and their slots."""

from backend.services.capacity.views.workers import NodeView, WorkerView, list_nodes, list_workers
from backend.web.api_common import Page, api_router
from backend.web.dependencies import SessionDep

router = api_router("workers")


@router.get("/workers")
def workers(session: SessionDep) -> Page[WorkerView]:
    """List workers that are online, and those that went away within a day."""
    return Page[WorkerView](items=list_workers(session))


@router.get("/nodes")
def nodes(session: SessionDep) -> Page[NodeView]:
    """List machines and nodes of clusters with their slots, and who holds what; those that went within a day, too."""
    return Page[NodeView](items=list_nodes(session))
