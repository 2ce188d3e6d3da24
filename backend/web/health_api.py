"""Liveness, readiness and health of the service. Requires no token."""

from fastapi import APIRouter, Response
from sqlalchemy import text

from backend.db.compatibility import schema_problem
from backend.db.session import read_only
from backend.domain.errors import Unavailable
from backend.services.events import broker_state
from backend.web.dependencies import EdgeDep
from backend.web.health_schemas import Liveness, Readiness, ServiceHealth

router = APIRouter(tags=["health"])


@router.get("/healthz", responses={503: {"model": ServiceHealth, "description": "The database does not answer."}})
def health(edge: EdgeDep, response: Response) -> ServiceHealth:
    """Whether the service can do its work.

    `degraded` without the broker: slower, nothing is lost. `down` (503) without the database.
    """
    broker = broker_state()
    version = edge.version
    try:
        with read_only(edge.factory) as session:
            online = session.scalar(text("SELECT count(*) FROM worker WHERE state = 'online'")) or 0
    except Unavailable:
        response.status_code = 503
        return ServiceHealth(status="down", version=version, database="away", broker=broker)
    status = "ok" if broker == "ok" else "degraded"
    return ServiceHealth(status=status, version=version, database="ok", broker=broker, workers=online)


@router.get("/livez")
async def live() -> Liveness:
    """Whether the process responds. Checks nothing else: a restart does not repair an unavailable database."""
    return Liveness(status="alive")


@router.get("/readyz", responses={503: {"model": Readiness, "description": "Send requests elsewhere."}})
def ready(edge: EdgeDep, response: Response) -> Readiness:
    """Whether to send requests here.

    503 during shutdown, while the database is unavailable, and if its schema is too old or too new for this release.
    """
    status, reason = "ready", ""
    if edge.drain.draining:
        status, reason = "draining", "this process ends"
    else:
        try:
            with read_only(edge.factory) as session:
                reason = schema_problem(session)
            status = "schema" if reason else "ready"
        except Unavailable as error:
            status, reason = "database", error.message
    if status != "ready":
        response.status_code = 503
    return Readiness.model_validate({"status": status, "reason": reason, "version": edge.version})
