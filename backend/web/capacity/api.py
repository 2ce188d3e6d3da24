"""Workers and their slots."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from backend.services.capacity.views.endpoints import EndpointView, endpoints_page
from backend.services.capacity.views.workers import NodeView, WorkerView, get_worker, list_nodes, list_workers
from backend.services.capacity.workers import set_draining
from backend.web.api_common import Page, api_router
from backend.web.dependencies import SessionDep

router = api_router("workers")


@router.get("/workers")
def workers(session: SessionDep) -> Page[WorkerView]:
    """List workers that were online within the last day."""
    return Page[WorkerView](items=list_workers(session))


@router.post("/workers/{worker_id}/drain")
def drain_worker(session: SessionDep, worker_id: UUID) -> WorkerView:
    """Drain a worker: it gets no more work and finishes what it has, until it is resumed or starts again."""
    set_draining(session, worker_id, draining=True)
    return get_worker(session, worker_id)


@router.post("/workers/{worker_id}/resume")
def resume_worker(session: SessionDep, worker_id: UUID) -> WorkerView:
    """Give a drained worker work again."""
    set_draining(session, worker_id, draining=False)
    return get_worker(session, worker_id)


@router.get("/nodes")
def nodes(session: SessionDep) -> Page[NodeView]:
    """List machines and cluster nodes of the last day with their slots and lease holders."""
    return Page[NodeView](items=list_nodes(session))


@router.get("/endpoints")
def endpoints(
    session: SessionDep,
    window: Annotated[
        str, Query(pattern="^(1h|6h|24h|7d|30d)$", description="Time until now that is counted.")
    ] = "24h",
) -> Page[EndpointView]:
    """List model endpoints: state, latency, errors, tokens and cost by model, and attempts that wait for them."""
    return Page[EndpointView](items=endpoints_page(session, window).endpoints)
