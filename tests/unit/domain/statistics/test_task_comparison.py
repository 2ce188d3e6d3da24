import pytest
from scipy import stats  # type: ignore[import-untyped]

from backend.domain.statistics.paired import MCNEMAR
from backend.domain.statistics.task_comparison import SIGN_FLIP, SIGN_FLIP_DRAWN, TaskScores, compare_tasks


def scores(base: str, other: str) -> list[TaskScores]:
    """One pass per task, 0 or 1."""
    return [TaskScores(f"t{at}", [float(a)], [float(b)]) for at, (a, b) in enumerate(zip(base, other, strict=True))]


class TestCompareTasks:
    def test_single_binary_passes_use_mcnemar(self) -> None:
        result = compare_tasks(scores("1111110000", "0000111000"))
        assert result is not None
        assert (result.tasks, result.worse, result.better, result.test) == (10, 4, 1, MCNEMAR)
        assert (result.p_value, result.regression_p) == (0.375, 0.1875)
        assert result.success == result.score
        assert result.score[:3] == pytest.approx((0.6, 0.3, -0.3))

    def test_few_fractional_scores_use_the_exact_sign_flip(self) -> None:
        tasks = [TaskScores(f"t{at}", [at / 20], [at / 10]) for at in range(9)]
        result = compare_tasks(tasks)
        assert result is not None
        assert (result.test, result.p_value, result.regression_p) == (SIGN_FLIP, 2 / 2**8, 1.0)
        assert (result.worse, result.better) == (0, 0)

    def test_sampled_test_is_independent_of_order(self) -> None:
        tasks = [TaskScores(f"t{at}", [0.5], [(at * 7 % 41) / 41]) for at in range(41)]
        result = compare_tasks(tasks, seed=3)
        assert result is not None
        assert result.test == SIGN_FLIP_DRAWN
        assert result == compare_tasks(tasks[::-1], seed=3)
        theirs = stats.permutation_test(
            ([task.other[0] - 0.5 for task in tasks],),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            rng=1,
        )
        assert result.p_value == pytest.approx(theirs.pvalue, abs=0.02)

    def test_passes_of_a_task_are_one_trial(self) -> None:
        result = compare_tasks([TaskScores(f"t{at}", [1.0, 1.0, 1.0], [0.0, 0.0]) for at in range(3)])
        assert result is not None
        assert (result.p_value, result.test, result.worse) == (0.25, SIGN_FLIP, 3)

    def test_no_common_task_gives_no_result(self) -> None:
        assert compare_tasks([]) is None

    def test_swapping_runs_flips_the_sign(self) -> None:
        there = compare_tasks(scores("1111110000", "0000111000"))
        back = compare_tasks(scores("0000111000", "1111110000"))
        assert there is not None
        assert back is not None
        assert back.score.value == pytest.approx(-there.score.value)
        assert back.score.interval == pytest.approx((-there.score.interval.high, -there.score.interval.low))
        assert (back.p_value, back.worse, back.better) == (there.p_value, there.better, there.worse)
        assert back.regression_p > 0.5
