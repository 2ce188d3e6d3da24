"""Results cut by labels, and the tables of papers."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from backend.services.results import label_pairs
from backend.services.results.label_pairs import LabelPairView
from backend.services.results.views.cuts import BoardCut, RunCut, board_cut, run_cut
from backend.services.results.views.languages import LanguageTable, language_table
from backend.services.results.views.pair_cuts import BoardPairCut, RunPairCut, board_pair_cut, run_pair_cut
from backend.services.results.views.paper_tables import PaperView, paper_view
from backend.services.results.views.twins import TwinTable, twin_table
from backend.web.api_common import Id, Name, Page, RequestModel, api_router
from backend.web.dependencies import NodePricesDep, SessionDep

router = api_router("leaderboards")
Label = Annotated[str, Query(max_length=100, description="Label of the tasks.", examples=["level"])]
Version = Annotated[int | None, Query(ge=1, le=2**31, description="Of the task set; the newest if not given.")]


@router.get("/runs/{run_id}/cut", tags=["runs"])
def cut_of_run(session: SessionDep, run_id: Id, label: Label) -> RunCut:
    """Show a run's results by the values of a label."""
    return run_cut(session, run_id, label)


@router.get("/leaderboards/{benchmark}/cut")
def cut_of_board(session: SessionDep, benchmark: Name, label: Label = "", version: Version = None) -> BoardCut:
    """Show a leaderboard by the values of a label; default: the first by which its tasks differ."""
    return board_cut(session, benchmark, label, version=version)


class LabelPairBody(RequestModel):
    """Two labels of the tasks."""

    label: str = Field(max_length=100, examples=["level"])
    by: str = Field(max_length=100, examples=["persona"])


@router.get("/runs/{run_id}/pair-cut", tags=["runs"])
def pair_cut_of_run(session: SessionDep, run_id: Id, label: Label, by: Label) -> RunPairCut:
    """Show a run's results by the values of two labels together."""
    return run_pair_cut(session, run_id, label, by)


@router.get("/leaderboards/{benchmark}/pair-cut")
def pair_cut_of_board(
    session: SessionDep, benchmark: Name, label: Label, by: Label, version: Version = None
) -> BoardPairCut:
    """Show a leaderboard by the values of two labels together."""
    return board_pair_cut(session, benchmark, label, by, version=version)


@router.get("/leaderboards/{benchmark}/label-pairs")
def list_label_pairs(session: SessionDep, benchmark: Name) -> Page[LabelPairView]:
    """List the pairs of labels by which workers cut the benchmark's runs."""
    return Page[LabelPairView](items=label_pairs.list_pairs(session, benchmark))


@router.post("/leaderboards/{benchmark}/label-pairs", status_code=201)
def keep_label_pair(session: SessionDep, benchmark: Name, body: LabelPairBody) -> LabelPairView:
    """Have workers cut the benchmark's runs by two labels together, those that there are and later ones."""
    return label_pairs.keep_pair(session, benchmark, body.label, body.by)


@router.delete("/leaderboards/{benchmark}/label-pairs", status_code=204)
def remove_label_pair(session: SessionDep, benchmark: Name, label: Label, by: Label) -> None:
    """Have workers cut runs by these labels no more. Safe to repeat."""
    label_pairs.remove_pair(session, benchmark, label, by)


@router.get("/leaderboards/{benchmark}/paper-tables")
def tables_of_paper(session: SessionDep, benchmark: Name, prices: NodePricesDep, version: Version = None) -> PaperView:
    """Show the tables of the benchmark's paper, published rows first, then the board's."""
    return paper_view(session, benchmark, version=version, prices=prices)


@router.get("/leaderboards/{benchmark}/twins")
def twins_of_board(session: SessionDep, benchmark: Name, version: Version = None) -> TwinTable | None:
    """Show Windows tasks paired with their Ubuntu twins; null without twins."""
    return twin_table(session, benchmark, version=version)


@router.get("/leaderboards/{benchmark}/languages")
def languages_of_board(session: SessionDep, benchmark: Name, version: Version = None) -> LanguageTable | None:
    """Show English against Chinese instructions, paired by task; null for a benchmark without both."""
    return language_table(session, benchmark, version=version)
