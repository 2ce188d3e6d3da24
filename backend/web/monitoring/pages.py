"""`/status`: whether each part works, for everybody."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from backend.services.monitoring.status import PartState
from backend.web.dependencies import EdgeDep
from backend.web.page_common import page_router
from backend.web.templating import render

router = page_router()


@router.get("/status")
def status(request: Request, edge: EdgeDep) -> HTMLResponse:
    """State of each part of the service, as in the API; 503 if a part is down."""
    health = edge.status.value()
    return render(request, "status.html", {"status": health}, status=503 if health.state is PartState.DOWN else 200)
