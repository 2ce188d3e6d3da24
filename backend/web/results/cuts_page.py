"""`/leaderboards/{benchmark}/labels`, `/leaderboards/{benchmark}/paper`: boards by label, and as in the paper."""

from typing import Annotated

from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, Response

from backend.domain.errors import Invalid, NotFound
from backend.services.results import empirical_difficulty, label_pairs
from backend.services.results.views import cuts, languages, pair_cuts, paper_tables, twins
from backend.services.results.views.leaderboard import RATES
from backend.web.dependencies import NodePricesDep, SessionDep
from backend.web.page_common import Text, page_router, redirect
from backend.web.query_strings import with_query
from backend.web.table_files import TableDep
from backend.web.templating import render

router = page_router()
FormText = Annotated[str, Form(max_length=100)]
Version = Annotated[int | None, Query(ge=1, le=2**31)]


@router.get("/leaderboards/{benchmark}/labels")
def labels(  # noqa: PLR0913 - one parameter per part of the address
    request: Request,
    session: SessionDep,
    benchmark: str,
    *,
    label: Text = "",
    by: Text = "",
    measure: Text = "",
    version: Version = None,
) -> HTMLResponse:
    """The board by the values of any label, or of two."""
    cut = cuts.board_cut(session, benchmark, label, version=version)
    pair, problem = None, None
    if by:
        try:
            pair = pair_cuts.board_pair_cut(session, benchmark, cut.label, by, version=version)
        except (Invalid, NotFound) as error:
            problem = error
    measures = [*RATES, *cut.measures]
    usual = cut.primary if cut.primary in measures else "mean"
    values = {"cut": cut, "measures": measures, "measure": measure if measure in measures else usual, "rates": RATES}
    values |= {"pair": pair, "by": by, "problem": problem, "pairs": label_pairs.list_pairs(session, benchmark)}
    return render(
        request, "board_labels.html", {**values, "version": version}, status=problem.status if problem else 200
    )


@router.post("/leaderboards/{benchmark}/labels/solve-rates")
def label_by_solve_rate(session: SessionDep, benchmark: str) -> Response:
    """Stores terciles of agents' solve rates as labels of the tasks."""
    empirical_difficulty.label_by_solve_rate(session, benchmark)
    return redirect(with_query(f"/leaderboards/{benchmark}/labels", {}, label=empirical_difficulty.LABEL))


@router.post("/leaderboards/{benchmark}/label-pairs")
def keep_pair(session: SessionDep, benchmark: str, label: FormText, by: FormText) -> Response:
    """Has workers compute two labels together."""
    label_pairs.keep_pair(session, benchmark, label, by)
    return redirect(with_query(f"/leaderboards/{benchmark}/labels", {}, label=label, by=by))


@router.post("/leaderboards/{benchmark}/label-pairs/remove")
def remove_pair(session: SessionDep, benchmark: str, label: FormText, by: FormText) -> Response:
    """Has workers compute them no more."""
    label_pairs.remove_pair(session, benchmark, label, by)
    return redirect(with_query(f"/leaderboards/{benchmark}/labels", {}, label=label))


@router.get("/leaderboards/{benchmark}/labels.csv")
def label_table(  # noqa: PLR0913 - one parameter per part of the address
    session: SessionDep, write: TableDep, benchmark: str, *, label: Text = "", by: Text = "", version: Version = None
) -> Response:
    """Results by one or two labels as a table."""
    if by:
        pair = pair_cuts.board_pair_cut(session, benchmark, label, by, version=version)
        return write(f"{benchmark}-{pair.label}-{pair.by}", pair_cuts.PAIR_HEAD, pair_cuts.pair_cut_rows(pair))
    cut = cuts.board_cut(session, benchmark, label, version=version)
    return write(f"{benchmark}-{cut.label}", cuts.HEAD, cuts.cut_rows(cut))


@router.get("/leaderboards/{benchmark}/paper")
def paper(
    request: Request, session: SessionDep, benchmark: str, prices: NodePricesDep, version: Version = None
) -> HTMLResponse:
    """The tables of the benchmark's paper with the board's rows."""
    values = {
        "view": paper_tables.paper_view(session, benchmark, version=version, prices=prices),
        "twins": twins.twin_table(session, benchmark, version=version),
        "languages": languages.language_table(session, benchmark, version=version),
        "version": version,
    }
    return render(request, "paper.html", values)


@router.get("/leaderboards/{benchmark}/paper.csv")
def paper_table(
    session: SessionDep, write: TableDep, benchmark: str, prices: NodePricesDep, version: Version = None
) -> Response:
    """Every figure of these tables."""
    view = paper_tables.paper_view(session, benchmark, version=version, prices=prices)
    return write(f"{benchmark}-paper", paper_tables.PAPER_HEAD, paper_tables.paper_rows(view))


@router.get("/leaderboards/{benchmark}/languages.csv")
def languages_table(session: SessionDep, write: TableDep, benchmark: str, version: Version = None) -> Response:
    """English against Chinese instructions, paired by task; no row for a benchmark without both."""
    table = languages.language_table(session, benchmark, version=version)
    return write(f"{benchmark}-languages", languages.HEAD, languages.language_rows(table) if table else ())


@router.get("/leaderboards/{benchmark}/twins.csv")
def twins_table(session: SessionDep, write: TableDep, benchmark: str, version: Version = None) -> Response:
    """Windows tasks paired with their Ubuntu twins, and why rows were not paired; no row without twins."""
    table = twins.twin_table(session, benchmark, version=version)
    return write(f"{benchmark}-twins", twins.HEAD, twins.twin_rows(table) if table else ())
