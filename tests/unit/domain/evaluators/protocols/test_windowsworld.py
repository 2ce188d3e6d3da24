import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.protocols.windowsworld import windowsworld
from backend.domain.score import PartResult, Verdict
from backend.domain.task import EvaluatorSpec, PartKind
from tests.factories.parts import file_says

SPEC = EvaluatorSpec(calls=(file_says("/end", "done"),), protocol="windowsworld")


def verdict(score: float | None, *values: float) -> Verdict:
    parts = [PartResult(name=f"c{n}", kind=PartKind.CHECKPOINT, value=value) for n, value in enumerate(values)]
    return windowsworld(SPEC, score, parts)


class TestWindowsworld:
    def test_a_worked_example(self) -> None:
        """Three of five checkpoints, and the end state is not right: S_int 0.6, S_final 0."""
        assert verdict(0.0, 1, 1, 0, 1, 0) == Verdict(score=0.0, measures={"S_final": 0.0, "S_int": 0.6})

    def test_the_end_counts_whatever_lies_before(self) -> None:
        assert verdict(1.0, 1, 0).score == 1.0

    def test_a_task_without_checkpoints_has_no_s_int(self) -> None:
        assert verdict(1.0).measures == {"S_final": 1.0}

    def test_nearly_right_is_not_right(self) -> None:
        assert verdict(0.9, 1).measures["S_final"] == 0.0

    def test_without_an_end_nothing_can_be_said(self) -> None:
        with pytest.raises(EvaluatorFailed, match="final state"):
            verdict(None, 1)
