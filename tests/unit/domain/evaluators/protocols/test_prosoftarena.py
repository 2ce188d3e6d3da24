import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.protocols.prosoftarena import ProSoftArenaScores
from backend.domain.model.score import PartResult, Verdict
from backend.domain.model.task import EvaluatorSpec, Part, PartKind
from tests.error_codes import raises_code
from tests.factories.checkpoints import part


def phases(*weights: float) -> tuple[Part, ...]:
    """Phases p0, p1, ..., each after the one before."""
    return tuple(
        part(f"p{n}", *([f"p{n - 1}"] if n else []), kind=PartKind.PHASE, weight=weight, each_step=False)
        for n, weight in enumerate(weights)
    )


def verdict(parts: tuple[Part, ...], *values: float, score: float | None = None) -> Verdict:
    result = [
        PartResult(name=one.name, kind=one.kind, value=value, weight=one.weight)
        for one, value in zip(parts, values, strict=True)
    ]
    return ProSoftArenaScores()(EvaluatorSpec(calls=(), parts=parts, protocol="prosoftarena"), score, result)


class TestProsoftarena:
    def test_published_sample_is_scored(self) -> None:
        """Two phases of 0.5, in order; the first is done."""
        assert verdict(phases(0.5, 0.5), 1, 0) == Verdict(score=0.5, measures={"phase:p0": 1.0, "phase:p1": 0.0})

    def test_weights_are_the_tasks_own(self) -> None:
        assert verdict(phases(1, 3), 1, 0).score == 0.25

    def test_phase_counts_only_if_earlier_phases_are_reached(self) -> None:
        assert verdict(phases(0.5, 0.5), 0, 1) == Verdict(score=0.0, measures={"phase:p0": 0.0, "phase:p1": 0.0})

    def test_independent_phases_count_by_themselves(self) -> None:
        """Weights 0.2, 0.3 and 0.5; the first is missed, which the other two do not mind."""
        independent = tuple(one.model_copy(update={"after": ()}) for one in phases(0.2, 0.3, 0.5))
        assert verdict(independent, 0, 1, 1).score == pytest.approx(0.8)

    def test_chained_phases_depend_on_their_own_chain_only(self) -> None:
        first, second, third = phases(0.2, 0.3, 0.5)
        forked = (first, second, third.model_copy(update={"after": ("p0",)}))
        assert verdict(forked, 1, 0, 1).score == pytest.approx(0.7)

    def test_part_of_a_phase_is_part_of_its_weight(self) -> None:
        assert verdict(phases(0.5, 0.5), 1, 0.5).score == 0.75

    def test_a_condition_that_fails_leaves_nothing(self) -> None:
        assert verdict(phases(0.5, 0.5), 1, 1, score=0.0).score == 0.0

    def test_without_phases_the_calls_decide(self) -> None:
        assert verdict((), score=0.75) == Verdict(score=0.75)

    def test_weights_without_a_sum_give_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_evaluator"):
            verdict(phases(0, 0), 1, 1)

    def test_task_without_phases_and_calls_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_evaluator"):
            verdict(())

    def test_nothing_counts_after_a_phase_that_was_not_reached(self) -> None:
        result = verdict(phases(1, 1, 1), 0, 1, 1)
        assert (result.score, result.measures["phase:p2"]) == (0.0, 0.0)
