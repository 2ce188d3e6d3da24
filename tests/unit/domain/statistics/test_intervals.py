import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from backend.domain.statistics.intervals import (
    TaskCluster,
    cluster_mean,
    mean_interval,
    mean_of_means,
    student_quantile,
    total_interval,
    wilson,
    wilson_interval,
)


@st.composite
def rates(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@st.composite
def clusters(draw: st.DrawFn) -> list[TaskCluster]:
    made = []
    for _ in range(draw(st.integers(1, 30))):
        n = draw(st.integers(0, 5))
        made.append(TaskCluster(n, sum(draw(st.floats(0, 1)) for _ in range(n))))
    return made


class TestWilson:
    @pytest.mark.parametrize(
        ("successes", "n", "low", "high"),
        [
            # R: binom::binom.confint(x, n, methods = "wilson")
            (5, 10, 0.2365931, 0.7634069),
            (0, 10, 0.0, 0.2775328),
            (10, 10, 0.7224672, 1.0),
            (81, 263, 0.2552878, 0.3661957),
        ],
    )
    def test_wilson_interval_equals_published_values(self, successes: int, n: int, low: float, high: float) -> None:
        result = wilson(successes, n)
        assert result is not None
        assert result.low == pytest.approx(low, abs=5e-5)
        assert result.high == pytest.approx(high, abs=5e-5)

    def test_is_undefined_for_zero_trials(self) -> None:
        assert wilson(0, 0) is None

    @pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
    def test_impossible_counts_are_refused(self, successes: int, n: int) -> None:
        with pytest.raises(ValueError, match="successes"):
            wilson(successes, n)

    @given(rates())
    def test_contains_the_rate_and_lies_in_the_unit_interval(self, rate: tuple[int, int]) -> None:
        successes, n = rate
        result = wilson(successes, n)
        assert result is not None
        assert 0.0 <= result.low <= successes / n <= result.high <= 1.0

    @given(rates())
    def test_wilson_interval_is_symmetric(self, rate: tuple[int, int]) -> None:
        successes, n = rate
        one, other = wilson(successes, n), wilson(n - successes, n)
        assert one is not None
        assert other is not None
        assert one.low == pytest.approx(1 - other.high, abs=1e-12)

    @given(rates())
    def test_is_narrower_with_more_episodes_and_wider_with_more_confidence(self, rate: tuple[int, int]) -> None:
        successes, n = rate
        one, more, surer = wilson(successes, n), wilson(4 * successes, 4 * n), wilson(successes, n, 0.99)
        assert one is not None
        assert more is not None
        assert surer is not None
        assert more.high - more.low < one.high - one.low < surer.high - surer.low

    def test_solves_its_own_equation(self) -> None:
        """The ends are the rates p with |k/n - p| = z * sqrt(p (1 - p) / n)."""
        result = wilson(7, 25)
        assert result is not None
        z = 1.959963984540054
        for end in result:
            assert abs(7 / 25 - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 25), rel=1e-9)


class TestClusterMean:
    def test_is_undefined_without_trials(self) -> None:
        assert cluster_mean([]) is None
        assert cluster_mean([TaskCluster(0, 0.0)]) is None

    def test_cluster_mean_equals_the_worked_example(self) -> None:
        # R = 3/5; residuals 1 - 1.2 and 2 - 1.8; variance 2/1 * 0.08 / 25 = 0.0064; 0.24 / 0.0064 = 37.5 trials.
        interval = cluster_mean([TaskCluster(2, 1.0), TaskCluster(3, 2.0)])
        assert interval == pytest.approx(wilson_interval(0.6, 37.5, 12.7062047))

    def test_equals_wilson_for_one_trial_per_task(self) -> None:
        assert cluster_mean([TaskCluster(1, float(n < 12)) for n in range(30)]) == wilson(12, 30)

    @pytest.mark.parametrize("tasks", [1, 9])
    def test_equal_tasks_still_have_a_wide_interval(self, tasks: int) -> None:
        interval, others = cluster_mean([TaskCluster(2, 1.0)] * tasks), wilson(0, tasks)
        assert interval is not None
        assert others is not None
        assert interval == pytest.approx((0.5 - others.high / 2, 0.5 + others.high / 2))

    def test_all_solved_is_no_more_certain_than_wilson(self) -> None:
        """44 of 44 solved, three times each, says no more than 44 trials can."""
        assert cluster_mean([TaskCluster(3, 3.0)] * 44) == pytest.approx(wilson(44, 44))
        assert cluster_mean([TaskCluster(3, 0.0)] * 44) == pytest.approx(wilson(0, 44))

    @pytest.mark.parametrize("number", [1_000, 4_000])
    def test_agrees_with_the_normal_approximation_for_many_tasks(self, number: int) -> None:
        interval = cluster_mean([TaskCluster(2, 2 * (n % 4 == 0) + 0.5) for n in range(number)])
        half = 1.96 * math.sqrt(0.1875 / number)
        assert interval == pytest.approx((0.5 - half, 0.5 + half), abs=20 / number)

    def test_repeats_do_not_narrow_the_interval(self) -> None:
        """Ten tasks, each partly solved or never: repeating them ten times must not narrow the interval."""
        once = cluster_mean([TaskCluster(1, 0.9 * (n % 2)) for n in range(10)])
        often = cluster_mean([TaskCluster(10, 9.0 * (n % 2)) for n in range(10)])
        assert once == pytest.approx(often)

    def test_agrees_with_scipys_bootstrap(self) -> None:
        draw = random.Random(5)
        values = [draw.betavariate(0.8, 0.5) for _ in range(300)]
        theirs = stats.bootstrap(
            (values,), lambda sample, axis: sample.mean(axis=axis), n_resamples=4_000, method="BCa", rng=1
        ).confidence_interval
        assert cluster_mean([TaskCluster(1, value) for value in values]) == pytest.approx(tuple(theirs), abs=0.004)

    def test_coverage_is_near_nominal(self) -> None:
        """A sample; `make bench-statistics` measures it."""
        generator, hits = random.Random(1), 0
        for _ in range(300):
            interval = cluster_mean([TaskCluster(1, generator.random()) for _ in range(60)])
            assert interval is not None
            hits += interval.low <= 0.5 <= interval.high
        assert 0.92 <= hits / 300 <= 0.98

    @given(clusters(), st.sampled_from([(0.0, 1.0), (-1.0, 1.0)]))
    def test_contains_the_mean_within_bounds(self, drawn: list[TaskCluster], bounds: tuple[float, float]) -> None:
        low, high = bounds
        interval = cluster_mean(drawn, low=low, high=high)
        whole = sum(cluster.n for cluster in drawn)
        if not whole:
            assert interval is None
            return
        assert interval is not None
        mean = sum(cluster.total for cluster in drawn) / whole
        assert low <= interval.low <= mean + 1e-12
        assert mean - 1e-12 <= interval.high <= high

    @given(clusters())
    def test_order_does_not_matter(self, drawn: list[TaskCluster]) -> None:
        one, other = cluster_mean(drawn), cluster_mean(drawn[::-1])
        assert one == other if one is None else one == pytest.approx(other)

    @given(clusters())
    def test_is_scale_equivariant(self, drawn: list[TaskCluster]) -> None:
        doubled = [TaskCluster(cluster.n, 2 * cluster.total - cluster.n) for cluster in drawn]
        one, other = cluster_mean(drawn), cluster_mean(doubled, low=-1.0)
        if one is None or other is None:
            assert one is other
        else:
            assert [2 * end - 1 for end in one] == pytest.approx(list(other), abs=1e-6)


class TestMeanInterval:
    def test_agrees_with_scipy(self) -> None:
        values = [12.5, 30.0, 7.25, 18.0, 44.0]
        theirs = stats.ttest_1samp(values, 0).confidence_interval()
        assert mean_interval(values) == pytest.approx((theirs.low, theirs.high), rel=1e-5)

    def test_is_undefined_for_one_value(self) -> None:
        assert mean_interval([3.0]) is None


class TestTotalInterval:
    def test_coverage_of_future_totals_is_near_nominal(self) -> None:
        draws = random.Random(7)
        hits = 0
        for _ in range(2000):
            known, fresh = ([draws.gauss(100, 20) for _ in range(number)] for number in (12, 30))
            interval = total_interval(known, 30)
            assert interval is not None
            hits += interval.low <= sum(fresh) <= interval.high
        assert 0.93 <= hits / 2000 <= 0.97

    def test_total_interval_of_few_or_equal_values(self) -> None:
        assert total_interval([5.0], 10) is None
        assert total_interval([5.0, 5.0], 10) == (50.0, 50.0)
        assert total_interval([0.0, 50.0], 10)[0] == 0.0  # type: ignore[index]


class TestStudentQuantile:
    @pytest.mark.parametrize("share", [0.75, 0.9, 0.975, 0.9995])
    def test_agrees_with_scipy(self, share: float) -> None:
        for freedom in (1, 2, 3, 4, 5, 9, 29, 399):
            digits = 1e-9 if freedom >= 29 else 1e-6
            assert student_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=digits)


class TestMeanOfMeans:
    def test_every_group_has_the_same_weight(self) -> None:
        """Ten tasks at 1 and two at 0 of one group, two at 1 and two at 0 of the other: (10/12 + 2/4) / 2."""
        one, none = TaskCluster(1, 1.0), TaskCluster(1, 0.0)
        mean, interval = mean_of_means([[one] * 10 + [none] * 2, [one] * 2 + [none] * 2])
        assert mean == pytest.approx((10 / 12 + 2 / 4) / 2)
        assert interval.low < mean < interval.high

    def test_one_group_equals_its_own_mean(self) -> None:
        clusters = [TaskCluster(2, 1.0), TaskCluster(1, 1.0), TaskCluster(3, 0.5)]
        mean, interval = mean_of_means([clusters])
        assert mean == pytest.approx(2.5 / 6)
        assert interval == pytest.approx(cluster_mean(clusters))

    def test_more_groups_narrow_the_interval(self) -> None:
        clusters = [TaskCluster(1, 1.0), TaskCluster(1, 0.0), TaskCluster(1, 0.5)]
        (_, one), (_, four) = mean_of_means([clusters]), mean_of_means([clusters] * 4)
        assert four.high - four.low == pytest.approx((one.high - one.low) / 2)
