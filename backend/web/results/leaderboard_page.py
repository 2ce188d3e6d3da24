"""`/leaderboards/{benchmark}`: the leaderboard with intervals."""

import gzip
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy.orm import Session

from backend.domain.benchmarks import SUITE_PAPERS
from backend.domain.errors import NotFound
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.services.benchmarks.views.benchmark import by_source
from backend.services.results.board_query import BoardQuery
from backend.services.results.conditions import KEY_LENGTH
from backend.services.results.leaderboards import BoardOptions
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.views import leaderboard as service
from backend.services.results.views.board_columns import COSTS, number_columns
from backend.services.results.views.compared_sides import ComparedSides
from backend.services.results.views.leaderboard import BoardBreakdown
from backend.services.results.views.pareto import pareto_chart
from backend.services.results.views.row_costs import NodePriceList
from backend.services.sharing import saved_views
from backend.web import charts
from backend.web.charts import radar
from backend.web.dependencies import NodePricesDep, SessionDep
from backend.web.page_common import page_router, redirect
from backend.web.results.comparison_page import address
from backend.web.static_files import FOREVER
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
Version = Annotated[int | None, Query(ge=1, le=2**31)]
Name = Annotated[str | None, Query(max_length=100)]
Dimension = Literal["domain", "difficulty", "level", "capability", "complexity"]


COLUMNS = {"interval": "95 % interval", "success": "Success rate"}
"""Columns besides the rank, the configuration and the primary measure, before measures."""
LAST = {"passes": "Passes", "episodes": "Episodes", "run": "Run"}
"""Those after the numbers."""


async def board_options(
    conditions: Annotated[str | None, Query(max_length=KEY_LENGTH)] = None,
    common: Annotated[bool, Query()] = False,  # noqa: FBT002 - a switch in the address
    configuration: Annotated[list[UUID], Query(max_length=100)] = [],  # noqa: B006 - FastAPI's own form of it
    imported: Annotated[bool, Query(description="Rank imported results, too.")] = False,  # noqa: FBT002 - a switch
    unknown: Annotated[  # noqa: FBT002 - a switch
        bool, Query(description="With `imported`: take an unknown step budget or screen as equal.")
    ] = False,
) -> BoardOptions:
    """Options from the address of a board's table or chart."""
    return BoardOptions(conditions, common, configuration, imported, unknown)


async def board_query(query: Annotated[BoardQuery, Query()]) -> BoardQuery:
    """Everything that the reader chose, from the address of a board."""
    return query


OptionsDep = Annotated[BoardOptions, Depends(board_options)]
QueryDep = Annotated[BoardQuery, Depends(board_query)]


@router.get("/leaderboards")
def leaderboards(request: Request, session: SessionDep) -> Response:
    """Redirects to the benchmark with most runs; an empty page without one."""
    name = service.first_with_runs(session)
    return redirect(f"/leaderboards/{name}") if name else render(request, "leaderboards.html", {})


@router.get("/leaderboards/{benchmark}")
def board(  # noqa: PLR0913 - what the edge gives, and what the reader chose
    request: Request,
    session: SessionDep,
    benchmark: str,
    *,
    query: QueryDep,
    prices: NodePricesDep,
    view: Annotated[UUID | None, Query(description="A saved view that this is.")] = None,
) -> HTMLResponse:
    """The ranked table with the measures, the rows that are not ranked, and charts per dimension with their tables."""
    views = saved_views.list_views(session, benchmark)
    current = next((saved for saved in views if saved.id == view and saved.query == query.stored), None)
    values = {
        **board_values(session, benchmark, query, prices),
        "names": service.names(session),
        "library": charts.library_url(),
        "views": views,
        "view": current,
        "ignored": current.ignored if current else [],
        "text": query.text,
        "longest_name": saved_views.LONGEST_NAME,
    }
    return render(request, "leaderboard.html", values)


@router.get("/leaderboards/{benchmark}/compare")
def compare_rows(session: SessionDep, benchmark: str, query: QueryDep) -> Response:
    """Redirects to the comparison of the ticked rows, under the board's conditions."""
    board = service.board_of(session, benchmark, query.version, query.options)
    sides = ComparedSides(
        configurations=query.configuration,
        benchmark=benchmark,
        version=query.version,
        conditions=board.conditions.key if board.conditions else None,
    )
    return redirect(address(sides.query()))


def board_values(session: Session, benchmark: str, query: BoardQuery, prices: NodePriceList) -> dict[str, Any]:
    """Values for `leaderboard.html`, the same for every reader; `prices`: of nodes. Raises NotFound."""
    board = service.board_of(session, benchmark, query.version, query.options, prices)
    others = {name: measure.title for name, measure in board.measures.items() if name != board.primary}
    numbers = {column.name: column for column in number_columns(board.rows)}
    columns = {**COLUMNS, **others, **{name: column.title for name, column in numbers.items()}, **LAST}
    cuts = [service.cut(board, dimension, query.measure) for dimension in service.CUTS]
    return {
        "board": board,
        "rows": service.sorted_by(board, query.sort or "rank"),
        "sort": query.sort if query.sort in service.sortable(board) else "rank",
        "columns": columns,
        "numbers": numbers.values(),
        "shown": set(query.column) or set(columns) - set(numbers),
        "chosen": query.configuration,
        "pareto": pareto_chart(board, query.cost),
        "costs": COSTS,
        "published": by_source(board.published_results),
        "paper": next((paper for paper in SUITE_PAPERS if paper.name == board.kind), None),
        "cuts": [cut for cut in cuts if cut.series and len(cut.keys) > 1],
        "capabilities": CAPABILITIES,
        "complexities": COMPLEXITIES,
        "link": None,
        "ignored": [],
    }


@router.get("/leaderboards/{benchmark}/{dimension}.json")
def chart(  # noqa: PLR0913 - one parameter per part of the address
    session: SessionDep,
    benchmark: str,
    dimension: Dimension,
    *,
    version: Version = None,
    measure: Name = None,
    theme: Literal["light", "dark"] = "light",
    options: OptionsDep,
) -> JSONResponse:
    """One chart as a plotly figure."""
    cut = service.cut(service.board_of(session, benchmark, version, options), dimension, measure)
    draw = radar.figure if dimension == "capability" else charts.figure
    return JSONResponse(draw(cut, theme))


@router.get("/leaderboards/{benchmark}/rows.csv")
def row_table(
    session: SessionDep, write: TableDep, benchmark: str, options: OptionsDep, version: Version = None
) -> Response:
    """The ranked rows and the others, with their reasons."""
    board = service.board_of(session, benchmark, version, options)
    return write(f"{benchmark}-leaderboard", service.ROWS_HEAD, service.table_rows(board))


@router.get("/leaderboards/{benchmark}/costs.csv")
def costs(  # noqa: PLR0913, PLR0917 - what the edge gives, and the parts of the address
    session: SessionDep,
    write: TableDep,
    benchmark: str,
    options: OptionsDep,
    prices: NodePricesDep,
    version: Version = None,
) -> Response:
    """Every number of every row, with its reason where there is none."""
    board = service.board_of(session, benchmark, version, options, prices)
    head = ("configuration", "agent", "run", "reference", "column", "value", "note")
    rows = [
        [row.configuration.name, row.agent, str(row.runs[0]), row.reference, number.name, value,
         number.missing(row) if value is None else number.note(row)]
        for row in board.rows
        for number in number_columns(board.rows)
        for value in [number.value(row)]
    ]  # fmt: skip
    return write(f"{benchmark}-costs", head, rows)


@router.get("/leaderboards/{benchmark}/pareto.csv")
def pareto(session: SessionDep, write: TableDep, benchmark: str, query: QueryDep, prices: NodePricesDep) -> Response:
    """The points of score against cost."""
    board = service.board_of(session, benchmark, query.version, query.options, prices)
    chart = pareto_chart(board, query.cost)
    head = ("configuration", "agent", "run", chart.column.name, board.primary, "front")
    rows = [
        [point.row.configuration.name, point.row.agent, str(point.row.runs[0]), point.cost, point.score, point.front]
        for point in chart.points
    ]
    return write(f"{benchmark}-pareto", head, rows)


@router.get("/leaderboards/{benchmark}/measures.csv")
def measures(
    session: SessionDep, write: TableDep, benchmark: str, options: OptionsDep, version: Version = None
) -> Response:
    """Every measure of every row."""
    board = service.board_of(session, benchmark, version, options)
    head = (
        "configuration",
        "agent",
        "run",
        "reference",
        "measure",
        "mean",
        "low",
        "high",
        "n",
        "tasks",
        "undefined_tasks",
    )
    rows = [
        [row.configuration.name, row.agent, str(row.runs[0]), row.reference, name, *_numbers(row.measures[name])]
        for row in board.rows
        for name in board.measures
        if name in row.measures
    ]
    return write(f"{benchmark}-measures", head, rows)


@router.get("/leaderboards/{benchmark}/{dimension}.csv")
def table(  # noqa: PLR0913, PLR0917 - one parameter per part of the address
    session: SessionDep,
    write: TableDep,
    benchmark: str,
    dimension: Dimension,
    options: OptionsDep,
    version: Version = None,
) -> Response:
    """The table of a chart."""
    cut = service.cut(service.board_of(session, benchmark, version, options), dimension)
    return write(f"{benchmark}-by-{dimension}", _head(cut), _rows(cut))


@router.get("/charts/{version}/plotly.min.js")
def library(request: Request, version: str) -> Response:
    """Plotly's script; loaded only when a chart comes into view."""
    if not charts.library_url().startswith(f"/charts/{version}/"):
        raise NotFound("this version of plotly is not served", code="file_not_found")
    packed = charts.library()
    headers = {"Cache-Control": FOREVER, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        del headers["Content-Encoding"]
        packed = gzip.decompress(packed)
    return Response(packed, media_type="text/javascript", headers=headers)


def _numbers(measure_mean: MeasureMean) -> list[float]:
    return [measure_mean.mean, *measure_mean.interval, measure_mean.n, measure_mean.tasks, measure_mean.undefined_tasks]


def _measures(cut: BoardBreakdown) -> list[str]:
    return [name for name in cut.measures if name not in service.RATES]


def _head(cut: BoardBreakdown) -> list[str]:
    head = [
        "configuration",
        "agent",
        "run",
        "reference",
        cut.dimension,
        "episodes",
        "scored",
        "lost",
        "success_rate",
        "success_low",
    ]
    head += ["success_high", "mean_score", "mean_low", "mean_high", "lower_bound_success", "lower_bound_mean"]
    ends = ("", "_low", "_high", "_n", "_tasks", "_undefined_tasks")
    return head + [f"{name}{end}" for name in _measures(cut) for end in ends]


def _rows(cut: BoardBreakdown) -> Iterator[list[Any]]:
    for series in cut.series:
        for key, cell in zip(cut.keys, series.cells, strict=True):
            summary = cell.summary
            if summary is None:
                continue
            success, mean = summary.success_interval or (None, None), summary.mean_interval or (None, None)
            names = [series.configuration, series.agent, str(series.runs[0]), series.reference, key]
            counts = [summary.episodes, summary.counts.scored, summary.counts.lost]
            rates = [summary.success_rate, *success, summary.mean_score, *mean]
            more = [
                number
                for name in _measures(cut)
                for number in (_numbers(cell.means[name]) if name in cell.means else [None] * 6)
            ]
            yield [*names, *counts, *rates, summary.lower_bound_success, summary.lower_bound_mean, *more]
