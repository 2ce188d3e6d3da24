"""Status of the installation, which needs no token, and maintenance mode."""

from fastapi import Response
from pydantic import Field

from backend.services.capacity import maintenance_mode
from backend.services.capacity.maintenance_mode import LONGEST_REASON, MaintenanceView
from backend.services.monitoring.status import InstallationStatus, PartState
from backend.web.api_common import RequestModel, api_router
from backend.web.dependencies import EdgeDep, SessionDep

router = api_router("health")


class MaintenanceBody(RequestModel):
    """Why nothing starts meanwhile; everybody reads it."""

    reason: str = Field(min_length=1, max_length=LONGEST_REASON, examples=["PostgreSQL is upgraded until 18:00 UTC"])


@router.get("/status", responses={503: {"model": InstallationStatus, "description": "A part is down."}})
def status(edge: EdgeDep, response: Response) -> InstallationStatus:
    """Show whether each part works; at most a few seconds old. 503 if database or storage is down."""
    health = edge.status.value()
    response.headers["Cache-Control"] = "no-store"
    if health.state is PartState.DOWN:
        response.status_code = 503
    return health


@router.get("/maintenance")
def maintenance(session: SessionDep) -> MaintenanceView:
    """Show whether maintenance mode is on, since when, by whom and why."""
    return maintenance_mode.maintenance(session)


@router.put("/maintenance")
def begin_maintenance(session: SessionDep, body: MaintenanceBody) -> MaintenanceView:
    """Turn maintenance mode on: nothing starts, what runs finishes. Or change its reason."""
    return maintenance_mode.begin_maintenance(session, body.reason)


@router.delete("/maintenance")
def end_maintenance(session: SessionDep) -> MaintenanceView:
    """Turn maintenance mode off; workers continue at once."""
    return maintenance_mode.end_maintenance(session)
