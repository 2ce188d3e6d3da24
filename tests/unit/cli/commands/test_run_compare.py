from typing import Any

import pytest

from backend.cli.tables.comparison import show_comparison

RESULT = {"score": 1.0}
COMPARISON: dict[str, Any] = {
    "conditions": [{"name": "budget.max_steps", "values": [15, 50]}],
    "configurations": [{"name": "params.model", "values": ["gpt-a", "gpt-b"]}],
    "left_out": {"quarantined": 2},
    "runs": [
        {
            "id": name,
            "title": f"run {name}",
            "status": "completed",
            "success_rate": 0.5,
            "success_interval": [0.2, 0.8],
            "mean_score": 0.5,
            "mean_interval": [0.2, 0.8],
            "lost": 0,
        }
        for name in "ab"
    ],
    "differences": [
        {
            "run": "b",
            "sentence": "B solves as much as A",
            "better": 1,
            "worse": 1,
            "both_solved": 3,
            "p_adjusted": 1.0,
            "detectable": 0.25,
            "costs": {"steps": {"value": -1.5}},
        }
    ],
    "tasks": [
        {"task": f"files/{number}", "flipped": number < 45, "results": [RESULT, {"score": 0.0}]} for number in range(50)
    ],
}


class TestShowComparison:
    def test_prints_differing_conditions_first(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_comparison(COMPARISON)
        text = capsys.readouterr().out
        assert text.index("budget.max_steps") < text.index("B solves as much as A.") < text.index("gpt-b")
        assert "15; 50" in text
        assert "-1.5" in text
        assert "files/39" in text
        assert "files/40" not in text

    def test_no_sentence_without_a_common_task(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_comparison({**COMPARISON, "conditions": [], "differences": [], "tasks": []})
        assert "as much" not in capsys.readouterr().out
