import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.protocols.windowsworld import WindowsWorldScores
from backend.domain.model.score import PartResult, Verdict
from backend.domain.model.task import EvaluatorSpec, PartKind
from tests.error_codes import raises_code
from tests.factories.checkpoints import file_says

SPEC = EvaluatorSpec(calls=(file_says("/end", "done"),), protocol="windowsworld")


def verdict(score: float | None, *values: float) -> Verdict:
    parts = [PartResult(name=f"c{n}", kind=PartKind.CHECKPOINT, value=value) for n, value in enumerate(values)]
    return WindowsWorldScores()(SPEC, score, parts)


class TestWindowsworld:
    def test_measures_equal_the_worked_example(self) -> None:
        """Three of five checkpoints, and the end state is not right: S_int 0.6, S_final 0."""
        assert verdict(0.0, 1, 1, 0, 1, 0) == Verdict(score=0.0, measures={"S_final": 0.0, "S_int": 0.6})

    def test_the_end_counts_whatever_lies_before(self) -> None:
        assert verdict(1.0, 1, 0).score == 1.0

    def test_a_task_without_checkpoints_has_no_s_int(self) -> None:
        assert verdict(1.0).measures == {"S_final": 1.0}

    def test_partly_right_final_state_scores_0(self) -> None:
        assert verdict(0.9, 1).measures["S_final"] == 0.0

    def test_missing_final_state_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_evaluator"):
            verdict(None, 1)


def with_assertions(score: float | None, *held: tuple[float, float]) -> Verdict:
    """One of two checkpoints, and assertions as (weight, value)."""
    checkpoints = [PartResult(name=f"c{n}", kind=PartKind.CHECKPOINT, value=n) for n in (0, 1)]
    assertions = [
        PartResult(name=f"a{n}", kind=PartKind.ASSERTION, weight=weight, value=value)
        for n, (weight, value) in enumerate(held)
    ]
    return WindowsWorldScores()(SPEC, score, [*checkpoints, *assertions])


class TestAssertions:
    def test_assertion_measures_equal_the_worked_example(self) -> None:
        """The judge is content and the file is there; a window was not seen: half of the assertions hold."""
        assert with_assertions(1.0, (1, 1), (0, 0)) == Verdict(
            score=1.0, measures={"S_final": 1.0, "S_int": 0.5, "S_assert": 0.5, "S_agree": 1.0}
        )

    @pytest.mark.parametrize(("judge", "held"), [(1.0, 0), (0.0, 1)])
    def test_assertions_never_replace_the_judges_verdict(self, judge: float, held: float) -> None:
        """As in the paper: S_final is the judge's, whatever the files say. The disagreement is a measure."""
        verdict = with_assertions(judge, (1, held))
        assert (verdict.score, verdict.measures["S_final"]) == (judge, judge)
        assert (verdict.measures["S_assert"], verdict.measures["S_agree"]) == (held, 0.0)

    @pytest.mark.parametrize("judge", [1.0, 0.0])
    def test_equal_verdicts_count_as_agreement(self, judge: float) -> None:
        assert with_assertions(judge, (1, judge), (1, judge)).measures["S_agree"] == 1.0

    def test_intermediate_assertion_has_no_agreement(self) -> None:
        """A window that was in front on the way says nothing of the end state."""
        assert "S_agree" not in with_assertions(1.0, (0, 1)).measures

    def test_assertions_are_not_checkpoints(self) -> None:
        assert with_assertions(1.0, (1, 1), (1, 1)).measures["S_int"] == 0.5

    def test_assertions_alone_decide_without_s_final(self) -> None:
        verdict = with_assertions(None, (1, 1), (0, 0))
        assert (verdict.score, verdict.measures) == (1.0, {"S_int": 0.5, "S_assert": 0.5})

    def test_intermediate_assertions_alone_give_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_evaluator"):
            with_assertions(None, (0, 1))
