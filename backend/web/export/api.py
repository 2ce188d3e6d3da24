"""Recorded trajectories as training data: counts, and the whole export as one stream."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Depends, Query, Response
from fastapi.responses import StreamingResponse

from backend.db.session import read_only
from backend.domain.model import export_request as domain_filters
from backend.domain.model.export_request import ExportRequest, Filters
from backend.domain.model.task import Difficulty
from backend.domain.model.trajectory_export import AgentKind, AttemptResult
from backend.services.export.archives import ARCHIVES
from backend.services.export.counts import TrajectoryCounts, count
from backend.services.export.export import Export
from backend.services.export.masks import Masker
from backend.web.api_common import api_router
from backend.web.dependencies import AppContext, EdgeDep, ProjectDep, SessionDep

router = api_router("trajectories")
MOST = 200
Words = Annotated[list[str], Query(max_length=MOST)]
When = Annotated[datetime | None, Query(examples=["2026-11-01T00:00:00Z"])]


async def read_filters(  # noqa: PLR0913 - one parameter per filter
    *,
    result: Annotated[list[AttemptResult] | None, Query(description="Outcomes to include; default: solved.")] = None,
    any_result: Annotated[bool, Query(description="All outcomes.")] = False,
    kind: Annotated[list[AgentKind], Query(description="Who acted.")] = [],  # noqa: B006 - FastAPI copies defaults
    benchmark: Words = [],  # noqa: B006
    domain: Words = [],  # noqa: B006
    level: Words = [],  # noqa: B006
    difficulty: Annotated[list[Difficulty], Query()] = [],  # noqa: B006
    agent: Words = [],  # noqa: B006
    run: Annotated[list[UUID], Query(max_length=MOST)] = [],  # noqa: B006
    since: When = None,
    until: When = None,
    min_score: Annotated[float | None, Query(ge=0, le=1)] = None,
    measure: Annotated[
        list[str], Query(max_length=20, description="`CR>=0.5`: this measure is there and at least so large.")
    ] = [],  # noqa: B006
    open_licence: Annotated[bool, Query(description="Only benchmarks whose licence is known to be open.")] = False,
) -> Filters:
    """The filters in a query. Raises Invalid."""
    return domain_filters.read_filters(
        {
            "results": () if any_result else tuple(result or [AttemptResult.SOLVED]),
            "kinds": kind,
            "benchmarks": benchmark,
            "domains": domain,
            "levels": level,
            "difficulties": difficulty,
            "agents": agent,
            "runs": run,
            "since": since,
            "until": until,
            "min_score": min_score,
            "measures": measure,
            "open_licence": open_licence,
        }
    )


FiltersDep = Annotated[Filters, Depends(read_filters)]


@router.get("/trajectories/count")
def number(session: SessionDep, project: ProjectDep, filters: FiltersDep) -> TrajectoryCounts:
    """Count the trajectories that an export with these filters contains, and excluded ones with reasons."""
    return count(session, project.id, filters)


def export_of(edge: AppContext, project_id: UUID, request: ExportRequest) -> Export:
    """The export; it has its own transactions, because it continues after the endpoint returns."""
    masker = Masker(edge.settings.data_dir / "secrets")
    return Export(lambda: read_only(edge.factory), edge.store, masker, project_id, request)


@router.get(
    "/trajectories/export",
    response_class=Response,
    responses={200: {"content": {"application/x-tar": {}, "application/zip": {}}, "description": "The files."}},
)
def export(  # noqa: PLR0913 - one parameter per choice
    edge: EdgeDep,
    project: ProjectDep,
    filters: FiltersDep,
    *,
    form: Annotated[str, Query(max_length=100, description="A training form, such as `steps` or `chat`.")] = "steps",
    format: Literal["jsonl", "parquet"] = "jsonl",  # noqa: A002 - the parameter's name in the address
    archive: Literal["tar", "zip"] = "tar",
    pictures: Annotated[bool, Query(description="Else they are only listed, and read from /artifacts.")] = True,
    from_part: Annotated[int, Query(ge=0, le=10**6, description="Do not send earlier files of rows again.")] = 0,
) -> StreamingResponse:
    """Recorded trajectories as training data: rows, pictures by hash, and finally a manifest."""
    request = ExportRequest(filters=filters, form=form, format=format, pictures=pictures, from_part=from_part)
    entries = export_of(edge, project.id, request).entries()
    media_type, write = ARCHIVES[archive]
    headers = {"Content-Disposition": f'attachment; filename="trajectories-{form}.{archive}"'}
    return StreamingResponse(write(entries), media_type=media_type, headers=headers)
