"""Expected values are scipy 1.16's `scipy.stats.spearmanr(...).statistic`."""

import math
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.correlation import pearson, pearson_interval, ranked, spearman


class TestRanked:
    def test_equal_values_share_the_mean_of_their_ranks(self) -> None:
        assert ranked([30, 10, 30, 20]) == [3.5, 1.0, 3.5, 2.0]

    def test_empty_list_has_no_ranks(self) -> None:
        assert ranked([]) == []

    def test_values_that_were_rounded_apart_are_equal(self) -> None:
        assert ranked([0.1 + 0.2, 0.3, 0.5]) == [1.5, 1.5, 3.0]
        assert spearman([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]) is None
        assert pearson([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]) is None


class TestSpearman:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),
            ([1, 2, 3, 4], [1, 2, 2, 4], 0.9486832980505138),
            ([1, 2, 3], [9, 4, 1], -1.0),
            ([1.0, 2.5, 30.0], [2, 3, 1000], 1.0),
        ],
    )
    def test_agrees_with_scipy(self, first: list[float], second: list[float], expected: float) -> None:
        assert spearman(first, second) == pytest.approx(expected, abs=1e-12)

    def test_is_undefined_for_two_values(self) -> None:
        assert spearman([1, 2], [2, 1]) is None

    def test_is_undefined_for_a_constant(self) -> None:
        assert spearman([1, 2, 3], [1, 1, 1]) is None

    def test_both_must_be_of_the_same_things(self) -> None:
        with pytest.raises(ValueError, match="3 values beside 2"):
            spearman([1, 2, 3], [1, 2])


class TestPearson:
    def test_anscombes_first_set_is_0_816(self) -> None:
        """F. J. Anscombe, "Graphs in statistical analysis" (1973): r = 0.816."""
        x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
        y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
        assert pearson(x, y) == pytest.approx(0.816, abs=5e-4)

    @pytest.mark.parametrize(("first", "second"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0.7] * 3)])
    def test_is_undefined_for_degenerate_input(self, first: list[float], second: list[float]) -> None:
        assert pearson(first, second) is None

    def test_a_measure_may_have_two_values_only(self) -> None:
        """By hand: (2 + 2 + 1 + 3) / 4 = 2; 1 / 2 of the covariance over sqrt(1 * 2)."""
        assert pearson([0, 0, 1, 1], [2, 2, 1, 3]) == 0.0
        assert pearson([0, 0, 1, 1], [1, 2, 2, 3]) == pytest.approx(1 / math.sqrt(2))

    @pytest.mark.parametrize(("slope", "number"), [(0.1, 7), (0.7, 8)])
    def test_rounding_does_not_exceed_one(self, slope: float, number: int) -> None:
        """The quotient of these sums is 1.0000000000000002."""
        across = range(1, number + 1)
        assert pearson(across, [slope * value for value in across]) == 1.0
        assert pearson(across, [-slope * value for value in across]) == -1.0

    @given(st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=3, max_size=20))
    def test_agrees_with_scipy(self, pairs: list[tuple[float, float]]) -> None:
        from scipy.stats import pearsonr  # type: ignore[import-untyped]

        first, second = zip(*pairs, strict=True)
        result = pearson(first, second)
        if result is not None and min(pstdev(first), pstdev(second)) > 1e-3:
            assert result == pytest.approx(pearsonr(first, second).statistic, abs=1e-6)


class TestPearsonInterval:
    def test_agrees_with_scipy(self) -> None:
        from scipy.stats import pearsonr

        x, y = [1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6]
        r = pearson(x, y)
        assert r is not None
        expected = pearsonr(x, y).confidence_interval(0.95)
        assert pearson_interval(r, 6) == pytest.approx((expected.low, expected.high))

    def test_is_undefined_for_three_values(self) -> None:
        assert pearson_interval(0.5, 3) is None

    def test_perfect_correlation_has_a_point_interval(self) -> None:
        assert pearson_interval(1.0, 9) == (1.0, 1.0)
