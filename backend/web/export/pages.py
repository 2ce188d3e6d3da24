"""`/exports`: what was recorded that somebody could train on, and how to get it."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from starlette.datastructures import QueryParams

from backend.domain.errors import Invalid
from backend.domain.model.export_request import read_filters
from backend.domain.model.trajectory_export import Result
from backend.services.export import views as service
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import page_router
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


def asked(given: QueryParams) -> list[tuple[str, str]]:
    """What was given, as the API takes it: without empty fields, days as their beginning in UTC."""
    found: list[tuple[str, str]] = []
    for name in LISTS:
        found += [(name, value) for value in given.getlist(name)[:MOST] if value]
    found += [("measure", part.strip()) for part in given.get("measure", "").split(",") if part.strip()]
    for name in ("since", "until", "min_score", "form", "format"):
        value = given.get(name, "").strip()
        if value:
            found.append((name, f"{value}T00:00:00Z" if DAY.fullmatch(value) else value))
    # A form that was sent without any result asks for all; an address without a form for the usual ones.
    ticked = set(given.getlist("result"))
    if ticked >= {result.value for result in Result} or ("form" in given and not ticked):
        found = [("any_result", "true"), *(pair for pair in found if pair[0] != "result")]
    return [*found, *([("open_licence", "true")] if given.get("open_licence") else [])]


def values_of(query: list[tuple[str, str]]) -> dict[str, Any]:
    """The filters' fields."""
    several: dict[str, list[str]] = {}
    for name, value in query:
        several.setdefault(name, []).append(value)
    found: dict[str, Any] = {field: several[name] for name, field in LISTS.items() if name in several}
    found |= {name: several[name][0] for name in ("since", "until", "min_score", "open_licence") if name in several}
    if "any_result" in several:
        found["results"] = ()
    return {**found, "measures": several.get("measure", [])}


@router.get("/exports")
def exports(request: Request, session: SessionDep, project: ProjectDep) -> HTMLResponse:
    """The form with the counts of what is chosen. Its whole state is in the address."""
    given = request.query_params
    query, error = asked(given), None
    try:
        filters = read_filters(values_of(query))
        service.check(query)
    except Invalid as wrong:
        filters, error = None, wrong
    page = service.exports(session, project.id, filters, query)
    chosen = {name: set(given.getlist(name)) for name in LISTS}
    if "form" not in given:
        chosen["result"] = chosen["result"] or {Result.SOLVED.value}
    values = {
        "page": page,
        "given": given,
        "chosen": chosen,
        "error": error,
        "results": service.RESULT_WORDS,
        "kinds": service.KIND_WORDS,
    }
    return render(request, "exports.html", values)
