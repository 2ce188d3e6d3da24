"""`/studies` and `/studies/{id}`: list of studies, and results of one."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from backend.domain.model.measures import info
from backend.domain.model.outcome_style import ENDED_LABELS
from backend.domain.model.sort_order import SortOrder
from backend.domain.studies.study import cell_label, level_label
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.comparison import MOST_RUNS
from backend.services.results.views.comparison_page import FLIPPED, MatrixFilter, comparison_page
from backend.services.studies import offline_studies
from backend.services.studies import studies as service
from backend.services.studies.views import study as tables
from backend.services.studies.views.offline_study import offline_study_view
from backend.services.studies.views.study import StudyResults
from backend.web import charts
from backend.web.charts import studies as figures
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.page_common import (
    MOST_PAGES,
    Cursor,
    Id,
    OrderDep,
    Text,
    is_later_page,
    known_order,
    next_page,
    page_router,
    sort_order,
)
from backend.web.results.comparison_page import link
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
MOST_FLIPPED = 20
"""Tasks that the page lists; `/compare` lists all."""
Table = Literal["differences", "cells", "steps", "measures", "sensitivity", "shapes"]
ROWS: Mapping[str, Callable[[StudyResults], Iterator[dict[str, Any]]]] = {
    "differences": tables.comparison_rows,
    "cells": tables.cell_rows,
    "steps": tables.step_rows,
    "measures": tables.measure_rows,
    "sensitivity": tables.sensitivity_rows,
    "shapes": tables.shape_rows,
}


async def offline_order(
    sort: Annotated[str, Query(alias="offline.sort", max_length=200)] = "",
    page: Annotated[int, Query(alias="offline.page", ge=1, le=MOST_PAGES)] = 1,
) -> SortOrder | None:
    """The order of the list of offline studies in the address."""
    return known_order(await sort_order(sort, page), offline_studies.COLUMNS)


@router.get("/studies")
def studies(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    *,
    order: OrderDep,
    offline_order: Annotated[SortOrder | None, Depends(offline_order)],
    before: Cursor = None,
    offline_before: Annotated[UUID | None, Query(alias="offline.before")] = None,
) -> HTMLResponse:
    """The lists of studies and of offline studies, newest first or in another order."""
    order = known_order(order, service.COLUMNS)
    page = service.list_studies(session, project, cursor=before.hex if before else None, order=order)
    after = offline_before.hex if offline_before else None
    offline = offline_studies.list_offline_studies(session, project, cursor=after, limit=20, order=offline_order)
    values: dict[str, Any] = {"studies": list(map(tables.study_view, page.items)), "level_label": level_label}
    values |= {"by": service.COLUMNS, "next": next_page(order, before=page.next), "begun": is_later_page(order, before)}
    values |= {"offline": list(map(offline_study_view, offline.items)), "offline_by": offline_studies.COLUMNS}
    values |= {"offline_next": next_page(offline_order, of="offline.", before=offline.next)}
    values |= {"offline_begun": is_later_page(offline_order, offline_before)}
    return render(request, "studies.html", values)


@router.get("/studies/{study_id}")
def study(request: Request, session: SessionDep, study_id: Id, label: Text = "") -> HTMLResponse:
    """One study: paired differences, its cells task by task as on `/compare`, distributions of steps and endings."""
    results = tables.results_view(service.study_results(session, study_id))
    sides = ComparedSides(runs=[cell.run for cell in results.alike[:MOST_RUNS]])
    page = comparison_page(session, sides, label or None, MatrixFilter(show=FLIPPED)) if len(sides.ids) > 1 else None
    titles = [cell_label(cell.levels) for cell in results.alike[:MOST_RUNS]]
    values = {
        "comparison": page and page.comparison.with_titles(titles),
        "flipped": page.tasks[:MOST_FLIPPED] if page else [],
        "sides": sides,
        "link": partial(link, sides, {"label": label}),
        "results": results,
        "study": results.study,
        "words": tables.words,
        "cell_label": cell_label,
        "level_label": level_label,
        "info": info,
        "ended_words": ENDED_LABELS,
        "library": charts.library_url(),
    }
    return render(request, "study.html", values)


@router.get("/studies/{study_id}/{chart}.json")
def chart(
    session: SessionDep, study_id: Id, chart: Literal["steps", "ended"], theme: Literal["light", "dark"] = "light"
) -> JSONResponse:
    """One chart as a plotly figure."""
    results = tables.results_view(service.study_results(session, study_id))
    return JSONResponse(figures.figure(results, chart, theme))


@router.get("/studies/{study_id}/{table}.csv")
def table(session: SessionDep, write: TableDep, study_id: Id, table: Table) -> Response:
    """The numbers of the page."""
    rows = list(ROWS[table](tables.results_view(service.study_results(session, study_id))))
    return write(f"study-{study_id}-{table}", list(rows[0]) if rows else [], [list(row.values()) for row in rows])
