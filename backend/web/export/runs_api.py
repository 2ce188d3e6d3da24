"""A whole run as one file: our own JSON lines, or a format of another tool."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Annotated, Literal

from fastapi import Query, Response
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session

from backend.db.session import read_only
from backend.services.export.archives import as_zip
from backend.services.export.masks import Masker
from backend.services.export.run_files import RUN_FORMATS, RunFiles
from backend.services.runs import runs as service
from backend.web.api_common import Id, api_router
from backend.web.dependencies import EdgeDep, SessionDep
from backend.web.export.run_tables import as_jsonl, zip_tables
from backend.web.runs.api import run_detail

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
    run = run_detail(session, service.get_run(session, run_id))

    def work() -> AbstractContextManager[Session]:
        return read_only(edge.factory)

    if format == "jsonl":
        return _attachment(as_jsonl(work, run), f"run-{run_id}.jsonl", "application/x-ndjson")
    if format == "zip":
        return _attachment(zip_tables(work, run), f"run-{run_id}.zip", "application/zip")
    form, masker = RUN_FORMATS[format], Masker(edge.settings.data_dir / "secrets")
    files = RunFiles(work, edge.store, masker, run_id, pictures=pictures)
    return _attachment(as_zip(files.entries(form)), f"run-{run_id}-{format}.{form.suffix}", form.media_type)


def _attachment(parts: Iterator[bytes], name: str, media_type: str) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(parts, media_type=media_type, headers=headers)
