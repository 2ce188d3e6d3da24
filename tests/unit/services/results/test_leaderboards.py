"""Rows of a leaderboard without a database."""

from typing import Any

import pytest

from backend.db.models import AgentConfiguration, Run
from backend.domain.model.score import SCORE
from backend.services.results.leaderboards import BoardRow, label
from backend.services.runs.summary import EpisodeCounts, RunTotals, describe

NOTHING = RunTotals(
    counts=EpisodeCounts(), lost={}, tasks=0, scored_tasks=0, solved=0, score_sum=0.0, score_sq_sum=0.0, steps=0
)


def row(params: dict[str, Any], name: str = "prompt") -> BoardRow:
    summary = describe(NOTHING, None, None, "")
    return BoardRow(Run(), AgentConfiguration(name=name, params=params), [], "", summary, 0, {})


class TestLabel:
    @pytest.mark.parametrize(
        ("params", "text"),
        [
            ({}, "prompt"),
            ({"model": "m", "history": 3}, "prompt (model=m, history=3)"),
            ({"som": True, "tree": False, "note": "", "top_p": None, "model": "m"}, "prompt (som, model=m)"),
            ({"temperature": 0.0, "history": 0}, "prompt (temperature=0.0, history=0)"),
            ({"model": "m" * 24}, f"prompt (model={'m' * 24})"),
            ({"model": "m" * 25}, f"prompt (model={'m' * 23}…)"),
        ],
    )
    def test_names_what_is_set(self, params: dict[str, Any], text: str) -> None:
        assert label(row(params)) == text

    def test_has_sixty_characters_at_most(self) -> None:
        assert label(row({}, "a" * 60)) == "a" * 60
        assert label(row({}, "a" * 61)) == "a" * 59 + "…"


def test_a_row_without_roll_ups_has_no_measures() -> None:
    assert SCORE not in row({}).means
