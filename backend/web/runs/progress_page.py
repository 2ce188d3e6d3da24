"""`/runs/{id}/process`: progress within episodes."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from backend.domain.model.measures import in_order, info
from backend.services.runs.runs import get_run
from backend.services.runs.views import progress as service
from backend.web import charts
from backend.web.charts import progress as figures
from backend.web.dependencies import SessionDep
from backend.web.page_common import Id, page_router
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
With = Annotated[list[UUID | Literal[""]] | None, Query(alias="with", max_length=service.MOST)]


def compared_runs(beside: list[UUID | Literal[""]] | None) -> list[UUID]:
    """Runs to compare; the form's empty choice is ignored."""
    return [key for key in beside or [] if isinstance(key, UUID)]


@router.get("/runs/{run_id}/process")
def process(request: Request, session: SessionDep, run_id: Id, beside: With = None) -> HTMLResponse:
    """Shares of parts reached by step, and of episodes by progress; alone or compared with other runs."""
    processes = service.processes(session, run_id, compared_runs(beside))
    values = {
        "run": get_run(session, run_id),
        "found": processes,
        "asked": [("with", str(key)) for key in compared_runs(beside)],
        "measures": in_order([name for run in processes.runs for name in run.means]),
        "info": info,
        "library": charts.library_url(),
    }
    return render(request, "process.html", values)


@router.get("/runs/{run_id}/process/{chart}.json")
def chart(
    session: SessionDep,
    run_id: Id,
    chart: Literal["curve", "bins"],
    beside: With = None,
    theme: Literal["light", "dark"] = "light",
) -> JSONResponse:
    """One chart as a plotly figure."""
    processes = service.processes(session, run_id, compared_runs(beside))
    return JSONResponse(figures.figure(processes, chart, theme))


@router.get("/runs/{run_id}/process/{table}.csv")
def table(
    session: SessionDep,
    write: TableDep,
    run_id: Id,
    table: Literal["curve", "bins", "measures", "parts"],
    beside: With = None,
) -> Response:
    """The numbers of a chart, the measures, or every part of every episode of the run."""
    name = f"run-{run_id}-{table}"
    if table == "parts":
        return write(name, service.PARTS_HEAD, service.part_rows(session, run_id))
    processes = service.processes(session, run_id, compared_runs(beside))
    if table == "curve":
        return write(name, service.CURVE_HEAD, service.curve_rows(processes))
    if table == "measures":
        return write(name, service.MEASURES_HEAD, service.measure_rows(processes))
    return write(name, service.BINS_HEAD, service.bin_rows(processes))
