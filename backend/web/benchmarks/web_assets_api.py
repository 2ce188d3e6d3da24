"""Web files that a benchmark's tasks need: list, download, add."""

from threading import BoundedSemaphore
from typing import Annotated

from fastapi import File, Form, Query, Request, UploadFile
from pydantic import Field

from backend.db.session import read_only
from backend.domain.errors import Invalid, Unavailable, WebFailed
from backend.services.accounts.principal import bind
from backend.services.artifacts.egress_policy import LONGEST_URL
from backend.services.benchmarks import web_assets as service
from backend.services.benchmarks.web_assets import AssetState, AssetView, DeadLink
from backend.web.api_common import Name, Page, RequestModel, api_router
from backend.web.dependencies import AppContext, EdgeDep, SessionDep, audited

router = api_router("benchmarks")
MOST_AT_ONCE = 16
_turns = BoundedSemaphore(MOST_AT_ONCE)
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, examples=["https://files.example/a.xlsx"])]
Globs = Annotated[list[str], Query(max_length=100, description="Globs over `domain/name`; all tasks if none.")]


class FetchRequest(RequestModel):
    """The file to download."""

    url: Url
    force: bool = Field(default=False, description="Also if it is stored already.")


@router.get("/benchmarks/{name}/assets")
def list_assets(session: SessionDep, name: Name, tasks: Globs = []) -> Page[AssetView]:  # noqa: B006 - FastAPI's way
    """List the web files that a benchmark's newest version needs, and whether they exist."""
    return Page[AssetView](items=service.list_assets(session, name, tasks=tasks))


@router.post("/benchmarks/{name}/assets/fetch")
def fetch(request: Request, edge: EdgeDep, name: Name, body: FetchRequest) -> AssetView:
    """Download one file through the SSRF-safe client. Returns when it is stored, or dead, with the reason.

    503: the server does not answer, or too many downloads are running.
    """
    # No transaction is open while waiting for the network.
    with read_only(edge.factory) as session:
        bind(session, request.state.principal)
        before = service.needed_asset(session, name, body.url)
        if before.state is AssetState.STORED and not body.force:
            return before
        service.refuse_more(session, name)
    if not _turns.acquire(blocking=False):
        raise Unavailable(
            f"{MOST_AT_ONCE} files are already being downloaded",
            code="too_many_downloads",
            hint="Try again when one is done.",
        )
    try:
        return _fetch(request, edge, name, body.url)
    finally:
        _turns.release()


def _fetch(request: Request, edge: AppContext, name: str, url: str) -> AssetView:
    try:
        download = service.fetch(url, edge.web, edge.store)
    except (DeadLink, Invalid) as error:
        with audited(edge, request) as session:
            service.record_dead(session, name, url, error.message)
            return service.needed_asset(session, name, url)
    except WebFailed as error:
        raise Unavailable(error.message, code="download_failed", hint=error.hint or "Try again later.") from error
    with audited(edge, request) as session:
        service.record(session, name, url, download)
        return service.needed_asset(session, name, url)


@router.post("/benchmarks/{name}/assets", status_code=201)
def add(
    session: SessionDep,
    edge: EdgeDep,
    name: Name,
    url: Annotated[str, Form(min_length=1, max_length=LONGEST_URL)],
    file: Annotated[UploadFile, File(description="The file, obtained otherwise.")],
) -> AssetView:
    """Add a file that could not be downloaded. It is used for its address in every benchmark."""
    data = file.file.read(service.MOST_BYTES + 1)
    if len(data) > service.MOST_BYTES:
        raise Invalid(f"the file is larger than {service.MOST_BYTES >> 20} MiB", code="file_too_large", path="file")
    service.add(session, name, url, data, edge.store)
    session.flush()  # The view below reads it again.
    return service.needed_asset(session, name, url)
