"""`/leaderboards/{benchmark}`: who is better, and is the difference real?"""

import csv
import gzip
import io
from typing import Annotated, Literal

from fastapi import Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from backend.domain.errors import NotFound
from backend.services import pages_leaderboard as service
from backend.services.benchmark_pages import amount, reported
from backend.services.pages_leaderboard import Cut
from backend.web import charts
from backend.web.edge import SessionDep
from backend.web.pages.common import page_router, see
from backend.web.static_files import FOREVER
from backend.web.templating import render

router = page_router()
Version = Annotated[int | None, Query(ge=1, le=2**31)]
Measure = Literal["mean", "success"]
Dimension = Literal["domain", "difficulty"]


@router.get("/leaderboards")
def leaderboards(request: Request, session: SessionDep) -> Response:
    """Leads to the benchmark with most runs; says so where there is none."""
    name = service.first_with_runs(session)
    return see(f"/leaderboards/{name}") if name else render(request, "leaderboards.html", {})


@router.get("/leaderboards/{benchmark}")
def board(
    request: Request, session: SessionDep, benchmark: str, version: Version = None, measure: Measure = "mean"
) -> HTMLResponse:
    """The ranked table, and bars per domain and difficulty, each with its table."""
    found = service.board_of(session, benchmark, version)
    values = {
        "board": found,
        "reported": reported(list(found.reported)),
        "amount": amount,
        "label": service.label,
        "cuts": [service.cut(found, dimension) for dimension in service.CUTS],
        "names": service.names(session),
        "measure": measure,
        "measures": charts.MEASURES,
        "library": charts.library_url(),
        "value_of": charts.value_of,
    }
    return render(request, "leaderboard.html", values)


@router.get("/leaderboards/{benchmark}/{dimension}.json")
def chart(  # noqa: PLR0913 - one parameter per part of the address
    session: SessionDep,
    benchmark: str,
    dimension: Dimension,
    *,
    version: Version = None,
    measure: Measure = "mean",
    theme: Literal["light", "dark"] = "light",
) -> JSONResponse:
    """One chart, as plotly takes it."""
    found = service.cut(service.board_of(session, benchmark, version), dimension)
    return JSONResponse(charts.figure(found, measure, theme), headers={"Cache-Control": "no-store"})


@router.get("/leaderboards/{benchmark}/{dimension}.csv")
def table(session: SessionDep, benchmark: str, dimension: Dimension, version: Version = None) -> Response:
    """The numbers behind a chart."""
    found = service.cut(service.board_of(session, benchmark, version), dimension)
    name = f"{benchmark}-by-{dimension}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{_plain(name)}"'}
    return Response(_csv(found), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/charts/{version}/plotly.min.js")
def library(request: Request, version: str) -> Response:
    """Plotly's script; loaded only when a chart comes into view."""
    if not charts.library_url().startswith(f"/charts/{version}/"):
        raise NotFound("that version of plotly is not here")
    packed = charts.library()
    headers = {"Cache-Control": FOREVER, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    if "gzip" not in request.headers.get("accept-encoding", ""):
        del headers["Content-Encoding"]
        packed = gzip.decompress(packed)
    return Response(packed, media_type="text/javascript", headers=headers)


def _plain(name: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-._") else "-" for char in name)


def _cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _csv(cut: Cut) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    head = ("episodes", "scored", "lost", "success_rate", "success_low", "success_high", "mean_score", "mean_low")
    writer.writerow(
        ["agent", "run", "mark", cut.dimension, *head, "mean_high", "lower_bound_success", "lower_bound_mean"]
    )
    for series in cut.series:
        for key, found in zip(cut.keys, series.values, strict=True):
            if found is None:
                continue
            success, mean = found.success_interval or (None, None), found.mean_interval or (None, None)
            names = [_cell(series.label), str(series.run_id), series.mark, _cell(key)]
            counts = [found.episodes, found.counts.scored, found.counts.lost]
            rates = [found.success_rate, *success, found.mean_score, *mean]
            writer.writerow([*names, *counts, *rates, found.lower_bound_success, found.lower_bound_mean])
    return out.getvalue()
