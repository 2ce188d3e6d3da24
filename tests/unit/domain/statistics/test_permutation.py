from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from backend.domain.statistics.paired import sign_test
from backend.domain.statistics.permutation import MOST_EXACT, fair_tail, sign_flip

DIFFERENCES = [-1, 0, 0, 0.5, -0.5, -0.25, 0, -1, 0.125, -1, 0.75, -0.375]
SAMPLE = [float(value) for value in np.random.default_rng(3).normal(-0.08, 0.3, 60)]


SIDES = ["two-sided", "less", "greater"]


def theirs(values: list[float]) -> list[float]:
    """scipy's p-values of the three sides."""
    return [
        stats.permutation_test(
            (values,),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            alternative=side,
            n_resamples=20_000,
            rng=1,
        ).pvalue
        for side in SIDES
    ]


class TestSignFlip:
    def test_exact_test_agrees_with_scipy(self) -> None:
        assert sign_flip(DIFFERENCES) == (*map(pytest.approx, theirs(DIFFERENCES)), True)

    def test_sampled_test_agrees_with_scipy(self) -> None:
        assert sign_flip(SAMPLE) == (*(pytest.approx(value, abs=0.012) for value in theirs(SAMPLE)), False)

    def test_draws_every_pattern_of_signs(self) -> None:
        """Only eight of these differences count: all of them are negative in one of 256 patterns."""
        result = sign_flip([-1.0] * 8 + [1e-12] * 24)
        assert not result.exact
        assert result.less == pytest.approx(1 / 256, rel=0.5)
        assert sign_flip([1.0] * 8 + [1e-12] * 24).greater == pytest.approx(1 / 256, rel=0.5)

    def test_is_exact_up_to_a_million_patterns(self) -> None:
        values = SAMPLE[:MOST_EXACT]
        assert sign_flip(values) == (*(pytest.approx(value, abs=0.012) for value in theirs(values)), True)
        assert not sign_flip(SAMPLE[: MOST_EXACT + 1]).exact

    @given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
    @settings(max_examples=50, deadline=None)
    def test_equals_mcnemar_for_one_trial_per_task(self, worse: int, better: int, same: int) -> None:
        result = sign_flip([-1.0] * worse + [1.0] * better + [0.0] * same)
        n = max(worse + better, 1)
        assert result.exact
        assert result.two_sided == pytest.approx(sign_test(worse, better))
        if worse + better:
            assert result.less == pytest.approx(stats.binomtest(better, n, alternative="less").pvalue)
            assert result.greater == pytest.approx(stats.binomtest(better, n, alternative="greater").pvalue)

    @given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), max_size=8))
    @settings(max_examples=40, deadline=None)
    def test_counts_every_pattern(self, values: list[float]) -> None:
        total = sum(values)
        sums = [sum(map(float.__mul__, signs, values)) for signs in product((-1.0, 1.0), repeat=len(values))]
        hits = (
            sum(abs(one) >= abs(total) for one in sums),
            sum(one <= total for one in sums),
            sum(one >= total for one in sums),
        )
        assert sign_flip(values) == (*(pytest.approx(hit / len(sums)) for hit in hits), True)

    def test_sampled_p_is_positive_and_reproducible(self) -> None:
        values = [1.0 + at / 100 for at in range(60)]
        assert sign_flip(values, flips=99).two_sided == 0.01
        assert sign_flip(SAMPLE, seed=1) == sign_flip(SAMPLE[::-1], seed=1)
        assert sign_flip(SAMPLE, seed=1) != sign_flip(SAMPLE, seed=2)


class TestFairTail:
    @pytest.mark.parametrize(("most", "n"), [(0, 0), (0, 1), (3, 10), (10, 10), (480, 1_000), (4_900, 10_000)])
    def test_agrees_with_scipy(self, most: int, n: int) -> None:
        assert fair_tail(most, n) == pytest.approx(stats.binom.cdf(most, n, 0.5), rel=1e-9)
