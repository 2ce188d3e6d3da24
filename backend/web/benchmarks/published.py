"""`/published`: the five published suites, readable before anything is imported."""

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from backend.services.benchmarks.views import published as service
from backend.services.results.views.paper_tables import published_view
from backend.web.dependencies import SessionDep
from backend.web.page_common import page_router
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()


@router.get("/published")
def suites(request: Request, session: SessionDep) -> HTMLResponse:
    """Published suites, and whether each is imported here."""
    return render(request, "published.html", {"suites": service.published_suites(session)})


@router.get("/published/{name}.csv")
def figures(session: SessionDep, write: TableDep, name: str) -> Response:
    """Every published figure of a suite, one a row."""
    rows = service.figure_rows(service.published_suite(session, name))
    return write(f"{name}-published", service.FIGURES_HEAD, rows)


@router.get("/published/{name}")
def suite(request: Request, session: SessionDep, name: str) -> HTMLResponse:
    """One suite: the tables of its paper, then all other figures."""
    detail = service.published_suite(session, name)
    tables = published_view(name)
    named = {table.source for table in tables}
    others = {source: rows for source, rows in detail.results.items() if source not in named}
    return render(request, "published_suite.html", {"suite": detail, "tables": tables, "others": others})
