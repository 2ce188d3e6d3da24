from typing import Any

import pytest

from backend.cli.commands.judge import agreement, show_judge, words

NOTHING = {"value": None, "interval": None, "n": 0}
LEVEL = {"level": "all", "both_yes": 5, "only_judge_yes": 1, "only_person_yes": 0, "both_no": 4, "agreed": 0.9}


def judge(kind: str = "vlm") -> dict[str, Any]:
    """As the API gives it."""
    return {
        "id": "1",
        "kind": kind,
        "model": "judge-1",
        "endpoint": "tape",
        "config": {"temperature": 0.0, "votes": 3},
        "prompt_sha256": "0123456789abcdef",
        "attempts_judged": 7,
        "attempts_checked": 5,
        "attempts_sampled": 6,
        "attempts_reviewed": 4,
        "agreement": [{**LEVEL, "kappa": {"value": 0.8, "interval": [0.5, 1.0], "n": 10}}],
        "alpha_people": {"value": 0.75, "interval": None, "n": 10},
        "alpha_with_judge": NOTHING,
        "correlations": [
            {"measure": "CR", "rating": "completion", "r": {"value": 0.5, "interval": [0.1, 0.75], "n": 50}},
            {"measure": "LC", "rating": "logic", "r": NOTHING},
        ],
    }


class TestWords:
    @pytest.mark.parametrize(
        ("found", "said"),
        [
            ({"value": 0.614, "interval": [0.48, 0.72], "n": 120}, "0.61 (0.48 to 0.72), n = 120"),
            ({"value": -0.2, "interval": None, "n": 3}, "-0.20, n = 3"),
            (NOTHING, "-, n = 0"),
        ],
    )
    def test_missing_figures_are_omitted(self, found: dict[str, Any], said: str) -> None:
        assert words(found) == said


class TestAgreement:
    def test_agreement_of_a_model(self) -> None:
        assert agreement(judge()) == "kappa 0.80 (0.50 to 1.00), n = 10"

    def test_agreement_of_the_graph_evaluator(self) -> None:
        assert agreement(judge("graph")) == "r of CR 0.50 (0.10 to 0.75), n = 50; r of LC -, n = 0"


class TestShowJudge:
    def test_facts_and_levels(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_judge(judge())
        said = capsys.readouterr().out
        assert "4 of 6 drawn attempts judged by two people" in said
        assert "0.75, n = 10" in said
        assert "judge only" in said
