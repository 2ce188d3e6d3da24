"""`deskarena leaderboard` against a service: what it asks for and prints."""

from typing import Any

import pytest

from backend.cli.main import main
from tests.integration.cli.service import ScriptedService, serving

SUMMARY: dict[str, Any] = {
    "success_rate": 0.48, "success_interval": [0.3, 0.66], "mean_score": 0.5, "mean_interval": [0.31, 0.67],
    "scored_tasks": 25, "counts": {"scored": 75, "lost": 2},
}  # fmt: skip
RATE = {"k": 3, "tasks": 25, "at": 0.56, "at_interval": [0.37, 0.73], "hat": 0.4, "hat_interval": [0.23, 0.59]}
RANKED: dict[str, Any] = {
    "rank": 1, "best_rank": 1, "worst_rank": 2, "configuration": {"name": "alpha"}, "reasons": [], "lower_bound": 0.47,
    "primary": {"mean": 0.48, "interval": [0.3, 0.66]}, "passes": {"number": 3, "rates": [RATE]}, "summary": SUMMARY,
}  # fmt: skip
ASIDE = {
    **RANKED,
    "rank": None,
    "configuration": {"name": "beta"},
    "passes": None,
    "primary": None,
    "reasons": [{"text": "8 % lost"}],
}
BOARD: dict[str, Any] = {
    "benchmark": "starter", "task_set": {"version": 2}, "tasks": 25, "common_tasks": None, "primary": "score",
    "conditions": {"text": "15 steps, local"}, "rows": [RANKED, ASIDE],
}  # fmt: skip
CUT = {
    "values": ["L1", "L2"],
    "rows": [{"configuration": {"name": "alpha"}, "reasons": [], "cells": {"L2": {"summary": SUMMARY}}}],
}
ANSWERS = {"GET /api/v1/leaderboards/starter": BOARD, "GET /api/v1/leaderboards/starter/cut": CUT}


def run(service: ScriptedService, *words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["leaderboard", *words, "--server", service.url])
    assert ended.value.code == 0


def test_leaderboard_show_lists_ranks_and_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(ANSWERS) as service:
        run(service, "show", "starter", "--common", "--version", "2")
        assert [query["common"] + query["version"] for query in service.queries] == [["true", "2"]]
    head, conditions, _, first, second = capsys.readouterr().out.splitlines()
    assert (head, conditions) == ("starter v2: 25 tasks, ranked by score", "conditions: 15 steps, local")
    assert all(part in first for part in ("1 to 2", "48.0 % (30.0-66.0)", "47.0 %", "k = 3: 56.0 % (37.0-73.0)"))
    assert second.split()[:3] == ["-", "-", "beta"]
    assert second.rstrip().endswith("8 % lost")


def test_leaderboard_cut_lists_rates_by_label(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(ANSWERS) as service:
        run(service, "cut", "starter", "level")
        assert service.queries[0]["label"] == ["level"]
    _, line = capsys.readouterr().out.splitlines()
    assert line.split()[:5] == ["alpha", "L2", "50.0", "%", "(31.0-67.0)"]


def test_empty_board_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with serving({"GET /api/v1/leaderboards/starter": {**BOARD, "rows": [], "conditions": None}}) as service:
        run(service, "show", "starter")
    assert capsys.readouterr().out.splitlines()[1:] == ["No runs yet."]
