"""`/compare`: runs side by side on their common tasks."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import Response

from backend.services.results.views import comparison_page as service
from backend.services.results.views.comparison import MOST_RUNS, comparison_of
from backend.services.results.views.comparison_page import MatrixFilter
from backend.web.csv_files import attachment
from backend.web.dependencies import SessionDep
from backend.web.page_common import Cursor, Text, page_router, redirect
from backend.web.templating import render

router = page_router()
Runs = Annotated[list[UUID] | None, Query(max_length=50)]
Show = Literal["", "flipped", "better", "worse", "both", "neither"]
RESULTS = ("score", "solve_rate", "passes", "steps", "seconds", "usd")


@router.get("/compare")
def compare(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    *,
    run: Runs = None,
    order: Literal["", "oldest"] = "",
    label: Text = "",
    value: Text = "",
    show: Show = "",
    other: Annotated[int, Query(ge=1, lt=MOST_RUNS)] = 1,
    sort: Annotated[str, Query(pattern="^(task|-?[1-8])?$")] = "",
    first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    before: Cursor = None,
) -> Response:
    """The comparison; with fewer than two runs, a list to choose from. `order=oldest` makes the oldest run the base."""
    runs = list(dict.fromkeys(run or ()))
    if order:
        return redirect(address({"run": sorted(runs)}))
    choices = service.candidates(session, runs, before)
    if choices is not None:
        return render(request, "compare_choice.html", {"list": choices, "chosen": runs, "before": before})
    selection = MatrixFilter(show=show, other=other, value=value if label else "", sort=sort, first=first)
    page = service.comparison_page(session, runs, label or None, selection)
    query = {"label": label, "show": show, "other": other if show else None, "value": value, "sort": sort}
    values = {
        "page": page,
        "comparison": page.comparison,
        "selection": selection,
        "link": partial(link, runs, query),
        "base_link": partial(base_link, runs, query),
        "runs": runs,
    }
    return render(request, "compare.html", values)


@router.get("/compare/tasks.csv")
def table(session: SessionDep, run: Annotated[list[UUID], Query(max_length=50)]) -> Response:
    """The results of every common task in every run."""
    comparison = comparison_of(session, run)
    head = ["task", "flipped", *(f"{each.title}: {name}" for each in comparison.runs for name in RESULTS)]
    rows = [
        [row.task, row.flipped, *(getattr(result, name) for result in row.results for name in RESULTS)]
        for row in comparison.tasks
    ]
    return attachment(f"{comparison.benchmark}-comparison.csv", head, rows)


def address(query: Mapping[str, Any], path: str = "/compare") -> str:
    """The address with the query's non-empty values."""
    return f"{path}?{urlencode({name: each for name, each in query.items() if each}, doseq=True)}"


def link(runs: Sequence[UUID], query: Mapping[str, Any], **changes: Any) -> str:
    """This page with other values; a changed selection begins at its first task."""
    return address({"run": runs, **query, **changes})


def base_link(runs: Sequence[UUID], query: Mapping[str, Any], base: UUID) -> str:
    """This page with another first run."""
    return address({"run": [base, *(each for each in runs if each != base)], **query})
