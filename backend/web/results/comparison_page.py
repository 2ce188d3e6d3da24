"""`/compare`: runs, or configurations with all their passes, side by side on their common tasks."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from backend.services.results.conditions import KEY_LENGTH
from backend.services.results.views import comparison_page as service
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison import MOST_RUNS, compare_sides, compared
from backend.services.results.views.comparison_files import TABLES
from backend.services.results.views.comparison_page import MatrixFilter
from backend.web.dependencies import SessionDep
from backend.web.page_common import Cursor, Text, page_router, redirect
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Ids = Annotated[list[UUID] | None, Query(max_length=50)]
Show = Literal["", "flipped", "better", "worse", "both", "neither"]


async def compared_sides(  # noqa: PLR0913 - one parameter per part of the address
    *,
    run: Ids = None,
    configuration: Ids = None,
    benchmark: Text = "",
    version: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    conditions: Annotated[str | None, Query(max_length=KEY_LENGTH)] = None,
) -> ComparedSides:
    """Runs, or configurations under the conditions of a board."""
    return ComparedSides(
        runs=run or (),
        configurations=configuration or (),
        benchmark=benchmark,
        version=version,
        conditions=conditions,
    )


SidesDep = Annotated[ComparedSides, Depends(compared_sides)]


@router.get("/compare")
def compare(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    *,
    sides: SidesDep,
    order: Literal["", "oldest"] = "",
    label: Text = "",
    value: Text = "",
    show: Show = "",
    other: Annotated[int, Query(ge=1, lt=MOST_RUNS)] = 1,
    sort: Annotated[str, Query(pattern="^(task|-?[1-8])?$")] = "",
    first: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    before: Cursor = None,
) -> Response:
    """The comparison; with fewer than two runs, a list to choose from. `order=oldest` makes the oldest one the base.

    Configurations without a benchmark are compared where all of them have runs.
    """
    if order:
        return redirect(address(sides.query(sorted(sides.ids))))
    if sides.kind == "configuration" and not sides.benchmark:
        name, newest = sides.board(session)
        return redirect(address({**sides.query(), "benchmark": name, "version": newest}))
    choices = service.candidates(session, sides.ids, before) if sides.kind == "run" else None
    if choices is not None:
        return render(request, "compare_choice.html", {"list": choices, "chosen": sides.ids, "before": before})
    selection = MatrixFilter(show=show, other=other, value=value if label else "", sort=sort, first=first)
    page = service.comparison_page(session, sides, label or None, selection)
    query = {"label": label, "show": show, "other": other if show else None, "value": value, "sort": sort}
    values = {
        "page": page,
        "comparison": page.comparison,
        "selection": selection,
        "sides": sides,
        "link": partial(link, sides, query),
        "side_link": partial(side_link, sides, query),
        "boards": sides.boards(session),
    }
    return render(request, "compare.html", values)


@router.get("/compare/{table}.csv")
def table(
    session: SessionDep,
    write: TableDep,
    table: Literal["tasks", "rates", "differences", "labels", "fields"],
    *,
    sides: SidesDep,
    label: Text = "",
) -> Response:
    """The comparison's tables."""
    cut = label or None
    comparison = compare_sides(session, sides, cut) if table == "tasks" else compared(session, sides, cut)[0]
    return write(f"{comparison.benchmark}-comparison-{table}", *TABLES[table](comparison))


def address(query: Mapping[str, Any], path: str = "/compare") -> str:
    """The address with the query's non-empty values."""
    return f"{path}?{urlencode({name: value for name, value in query.items() if value}, doseq=True)}"


def link(sides: ComparedSides, query: Mapping[str, Any], path: str = "/compare", **changes: Any) -> str:
    """This page with other values; a changed selection starts at its first task."""
    return address({**sides.query(), **query, **changes}, path)


def side_link(sides: ComparedSides, query: Mapping[str, Any], at: int, *, remove: bool = False) -> str:
    """This page with the side at this position as its base, or without it."""
    others = [run_id for index, run_id in enumerate(sides.ids) if index != at]
    if remove:
        query = {**query, "show": None, "other": None, "sort": None}
    return address({**sides.query(others if remove else [sides.ids[at], *others]), **query})
