"""A whole run as one file: our own JSON lines, or a format of another tool."""

from typing import Annotated, Literal

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from backend.db.session import read_only
from backend.services.export.archives import as_zip
from backend.services.export.masks import Masker
from backend.services.export.run_files import RUN_FORMATS, RunFiles
from backend.services.runs import runs as service
from backend.services.runs.views.episode import episode_view
from backend.web.api_common import Id, api_router
from backend.web.dependencies import EdgeDep, SessionDep
from backend.web.export.run_tables import EXPORTS
from backend.web.runs.api import all_episodes, run_detail

router = api_router("runs")
Form = Literal["jsonl", "zip", "osworld", "inspect", "atif"]


@router.get(
    "/runs/{run_id}/export",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}, "application/x-ndjson": {}}, "description": "The file."}},
)
def export_run(
    edge: EdgeDep,
    session: SessionDep,
    run_id: Id,
    *,
    format: Form = "jsonl",  # noqa: A002 - the parameter's name in the address
    pictures: Annotated[bool, Query(description="With screenshots; `jsonl` and `zip` only link to them.")] = True,
) -> Response:
    """The run with its episodes, attempts, steps and evaluations as one file.

    `zip` also has a table of episodes. `osworld` is OSWorld's folder of results, `inspect` an Inspect log (`.eval`),
    `atif` trajectories in ATIF, each with screenshots. An episode without a result is marked as an error in these,
    never as a 0.
    """
    run = service.get_run(session, run_id)
    if format in RUN_FORMATS:
        form = RUN_FORMATS[format]
        masker = Masker(edge.settings.data_dir / "secrets")
        files = RunFiles(lambda: read_only(edge.factory), edge.store, masker, run_id, pictures=pictures)
        headers = {"Content-Disposition": f'attachment; filename="run-{run_id}-{format}.{form.suffix}"'}
        return StreamingResponse(as_zip(files.entries(form)), media_type=form.media_type, headers=headers)
    name, media_type, make = EXPORTS[format]
    # Wait reasons are momentary, not part of the results.
    episodes = [episode_view(row, run.config) for row in all_episodes(session, run_id)]
    data = make(session, run_detail(session, run), episodes)
    headers = {"Content-Disposition": f'attachment; filename="run-{run_id}.{name}"'}
    return Response(data, media_type=media_type, headers=headers)
