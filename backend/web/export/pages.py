"""`/exports`: recorded training data and how to download it; and the table of a run's episodes."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import QueryParams

from backend.domain.errors import Invalid
from backend.domain.model.export_request import read_filters
from backend.domain.model.trajectory_export import AttemptResult
from backend.services.export import views as service
from backend.services.runs import runs as run_service
from backend.services.runs.views.episode import episode_view
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.export.run_tables import COLUMNS, episode_rows
from backend.web.page_common import Id, page_router
from backend.web.runs.api import all_episodes
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
LISTS: Mapping[str, str] = {
    "result": "results",
    "kind": "kinds",
    "benchmark": "benchmarks",
    "domain": "domains",
    "level": "levels",
    "difficulty": "difficulties",
    "agent": "agents",
    "run": "runs",
}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
MOST = 200


def query_fields(params: QueryParams) -> list[tuple[str, str]]:
    """Submitted filters as for the API: without empty fields, days as UTC midnight."""
    pairs: list[tuple[str, str]] = []
    for name in LISTS:
        pairs += [(name, value) for value in params.getlist(name)[:MOST] if value]
    pairs += [("measure", part.strip()) for part in params.get("measure", "").split(",") if part.strip()]
    for name in ("since", "until", "min_score", "form", "format"):
        value = params.get(name, "").strip()
        if value:
            pairs.append((name, f"{value}T00:00:00Z" if DAY.fullmatch(value) else value))
    # A submitted form without results selects all; an address without a form selects the defaults.
    ticked = set(params.getlist("result"))
    if ticked >= {result.value for result in AttemptResult} or ("form" in params and not ticked):
        pairs = [("any_result", "true"), *(pair for pair in pairs if pair[0] != "result")]
    return [*pairs, *([("open_licence", "true")] if params.get("open_licence") else [])]


def values_of(query: list[tuple[str, str]]) -> dict[str, Any]:
    several: dict[str, list[str]] = {}
    for name, value in query:
        several.setdefault(name, []).append(value)
    values: dict[str, Any] = {field: several[name] for name, field in LISTS.items() if name in several}
    values |= {name: several[name][0] for name in ("since", "until", "min_score", "open_licence") if name in several}
    if "any_result" in several:
        values["results"] = ()
    return {**values, "measures": several.get("measure", [])}


@router.get("/runs/{run_id}/episodes.csv")
def episodes(session: SessionDep, write: TableDep, run_id: Id) -> Response:
    """Every episode of a run."""
    run = run_service.get_run(session, run_id)
    views = [episode_view(row, run.config) for row in all_episodes(session, run_id)]
    return write(f"run-{run_id}-episodes", COLUMNS, episode_rows(views))


@router.get("/exports")
def exports(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """The form with counts. Its whole state is in the address."""
    params = request.query_params
    query, error = query_fields(params), None
    try:
        filters = read_filters(values_of(query))
        service.check(query)
    except Invalid as wrong:
        filters, error = None, wrong
    page = service.exports(session, project.id, filters, query)
    selection = {name: set(params.getlist(name)) for name in LISTS}
    if "form" not in params:
        selection["result"] = selection["result"] or {AttemptResult.SOLVED.value}
    values = {
        "page": page,
        "given": params,
        "chosen": selection,
        "error": error,
        "results": service.RESULT_WORDS,
        "kinds": service.KIND_WORDS,
    }
    return render(request, "exports.html", values)
