"""Workers and their slots."""

from typing import Annotated

from fastapi import Query

from backend.services.capacity.views.endpoints import EndpointView, endpoints_page
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


@router.get("/endpoints")
def endpoints(
    session: SessionDep,
    window: Annotated[
        str, Query(pattern="^(1h|6h|24h|7d|30d)$", description="Time until now that is counted.")
    ] = "24h",
) -> Page[EndpointView]:
    """List model endpoints: state, latency, errors, tokens and cost by model, and attempts that wait for them."""
    return Page[EndpointView](items=endpoints_page(session, window).endpoints)
