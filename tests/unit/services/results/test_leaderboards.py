"""Rows of a leaderboard without a database."""

from backend.db.models import AgentConfiguration, Run
from backend.domain.model.score import SCORE
from backend.services.results.board_rows import NOTHING, BoardRow
from backend.services.results.conditions import conditions_of
from backend.services.results.leaderboards import label
from backend.services.runs.summary import describe


def row(**names: str) -> BoardRow:
    agent = AgentConfiguration(**{"name": "prompt", "own_name": "", "default_name": "", **names})
    return BoardRow(Run(), agent, [], "", describe(NOTHING, None, None, ""), conditions_of({}))


def test_the_label_is_the_configurations_name() -> None:
    assert label(row()) == "prompt"
    assert label(row(default_name="prompt · m")) == "prompt · m"
    assert label(row(default_name="prompt · m", own_name="mine")) == "mine"


def test_a_row_without_roll_ups_has_no_measures() -> None:
    assert SCORE not in row().means
