import math
import statistics
from itertools import combinations
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from backend.domain.statistics.intervals import wilson_interval
from backend.domain.statistics.paired import MCNEMAR, SIGN, Pair, compare, detectable_difference, holm, sign_test

SCORES = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@st.composite
def pairs(draw: st.DrawFn, *, once: bool = False) -> list[Pair]:
    tasks = draw(st.integers(1, 15))
    repeats = 1 if once else draw(st.integers(1, 3))
    return [Pair(f"t{task}", draw(SCORES), draw(SCORES)) for task in range(tasks) for _ in range(repeats)]


class TestCompare:
    def test_a_worked_example(self) -> None:
        # Ten tasks; the base solves 6, the other 3: 4 are solved by the base only, 1 by the other only.
        base = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
        other = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
        result = compare([Pair(f"t{at}", *both) for at, both in enumerate(zip(base, other, strict=True))])
        assert (result.pairs, result.tasks, result.only_base, result.only_other) == (10, 10, 4, 1)
        assert result.success is not None
        assert result.success[:3] == pytest.approx((0.6, 0.3, -0.3))
        assert result.success.relative_drop == pytest.approx(0.5)
        assert (result.p_value, result.test) == (0.375, MCNEMAR)
        # As a rate of -1 to 1: 0.35; variance 0.41 / 4 / 9; 0.2275 / 0.011389 = 19.976 trials; t(9) = 2.262157.
        low, high = wilson_interval(0.35, 19.975610, 2.262157)
        assert result.success.interval == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-5)

    def test_partial_scores_count_for_the_mean_only(self) -> None:
        result = compare([Pair("a", 0.5, 0.9), Pair("b", 0.2, 0.4)])
        assert result.success is not None
        assert result.score is not None
        assert [result.success.value, result.score.value] == pytest.approx([0.0, 0.3])
        assert (result.only_base, result.only_other, result.p_value) == (0, 0, 1.0)

    def test_repeats_of_a_task_are_one_trial(self) -> None:
        # Three tasks with four repeats each, all lost: 12 discordant pairs, but three trials.
        result = compare([Pair(f"t{task}", 1.0, 0.0) for task in range(3) for _ in range(4)])
        assert (result.only_base, result.test, result.p_value) == (12, SIGN, 0.25)

    def test_no_pairs_give_no_estimate(self) -> None:
        result = compare([])
        assert (result.pairs, result.success, result.score, result.p_value) == (0, None, None, None)

    def test_relative_drop_from_zero_is_undefined(self) -> None:
        result = compare([Pair("a", 0.0, 1.0), Pair("b", 0.0, 0.0)])
        assert result.success is not None
        assert result.success.relative_drop is None

    def test_a_gain_is_a_negative_drop(self) -> None:
        result = compare([Pair("a", 1.0, 1.0), Pair("b", 0.0, 1.0)])
        assert result.success is not None
        assert result.success.relative_drop == pytest.approx(-1.0)

    @settings(max_examples=40, deadline=None)
    @given(pairs())
    def test_identical_conditions_have_no_difference(self, given_pairs: list[Pair]) -> None:
        result = compare([pair._replace(other=pair.base) for pair in given_pairs])
        for rate in (result.success, result.score):
            assert rate is not None
            assert rate.value == 0.0
            assert rate.interval.low < 0.0 < rate.interval.high
        assert result.p_value == 1.0

    @settings(max_examples=40, deadline=None)
    @given(pairs(), st.randoms(use_true_random=False))
    def test_order_does_not_matter(self, given_pairs: list[Pair], random: Random) -> None:
        mixed = list(given_pairs)
        random.shuffle(mixed)
        assert compare(mixed) == compare(given_pairs)

    @settings(max_examples=40, deadline=None)
    @given(pairs())
    def test_names_of_tasks_do_not_matter(self, given_pairs: list[Pair]) -> None:
        renamed = [pair._replace(task=f"z{pair.task[::-1]}") for pair in given_pairs]
        assert compare(renamed) == compare(given_pairs)

    @settings(max_examples=40, deadline=None)
    @given(pairs())
    def test_interval_contains_the_difference_within_one(self, given_pairs: list[Pair]) -> None:
        result = compare(given_pairs)
        for rate in (result.success, result.score):
            assert rate is not None
            assert -1.0 <= rate.interval.low <= rate.value <= rate.interval.high <= 1.0
            assert rate.value == pytest.approx(rate.other - rate.base)

    @settings(max_examples=40, deadline=None)
    @given(pairs(once=True))
    def test_swapping_sides_flips_the_sign(self, given_pairs: list[Pair]) -> None:
        there = compare(given_pairs)
        back = compare([Pair(pair.task, pair.other, pair.base) for pair in given_pairs])
        assert there.success is not None
        assert back.success is not None
        assert back.success.value == pytest.approx(-there.success.value)
        assert back.p_value == there.p_value
        assert (back.only_base, back.only_other) == (there.only_other, there.only_base)


class TestDifferenceInterval:
    def test_agrees_with_scipys_bootstrap(self) -> None:
        values = [-1, 0, 0, 1, -0.5, 0.25, 0, -1, -1, 0.5, 0, 0, -0.25, 1, -1, 0, 0, 0, 0.75, -0.5] * 5
        score = compare([Pair(f"t{at}", max(0, -value), max(0, value)) for at, value in enumerate(values)]).score
        theirs = stats.bootstrap(
            (values,), lambda sample, axis: sample.mean(axis=axis), n_resamples=4_000, method="BCa", rng=1
        ).confidence_interval
        assert score is not None
        assert score.interval == pytest.approx((theirs.low, theirs.high), abs=0.02)

    @pytest.mark.parametrize(
        ("base", "other", "low", "high"),
        [
            # Wilson's upper end for 0 of 10 is 0.2775328.
            (0.5, 0.5, -0.2775328, 0.2775328),
            (0.0, 1.0, 1 - 2 * 0.2775328, 1.0),
            (1.0, 0.0, -1.0, -1 + 2 * 0.2775328),
            (0.25, 0.75, 0.5 - 1.5 * 0.2775328, 0.5 + 0.5 * 0.2775328),
        ],
    )
    def test_equal_differences_still_have_a_wide_interval(
        self, base: float, other: float, low: float, high: float
    ) -> None:
        score = compare([Pair(f"t{at}", base, other) for at in range(10)]).score
        assert score is not None
        assert score.interval == pytest.approx((low, high), abs=1e-6)

    def test_more_tasks_narrow_the_interval(self) -> None:
        few, many = (compare([Pair(f"t{at}", 0.0, 0.0) for at in range(n)]).score for n in (5, 50))
        assert few is not None
        assert many is not None
        assert few.interval.low < many.interval.low < many.interval.high < few.interval.high


class TestDetectableDifference:
    def test_power_is_80_percent(self) -> None:
        differences = [1.0, -1.0, 0.5, 0.0, 0.0, -0.25, 0.0, 1.0] * 20
        smallest = detectable_difference(differences, alpha=0.05, power=0.8)
        assert smallest is not None
        n, critical = len(differences), stats.t.ppf(0.975, len(differences) - 1)
        shift = smallest * math.sqrt(n) / statistics.stdev(differences)
        assert 1 - stats.nct.cdf(critical, n - 1, shift) == pytest.approx(0.8, abs=0.005)

    def test_exact_test_requires_six_tasks(self) -> None:
        assert detectable_difference([0.0] * 100) == 0.06
        assert sign_test(6, 0) < 0.05 < sign_test(5, 0)

    @pytest.mark.parametrize("change", [-1.0, 1.0])
    def test_six_of_twenty_tasks_have_to_change(self, change: float) -> None:
        assert detectable_difference([change] + [0.0] * 19) == 6 / 20
        partly = detectable_difference([change / 2] + [0.0] * 19)
        assert partly is not None
        assert partly < 0.1

    def test_scales_with_the_number_of_tasks(self) -> None:
        differences = [0.3, -0.2, 0.1, 0.0] * 5
        few, many = (detectable_difference(differences, tasks=tasks) for tasks in (20, 80))
        assert few == detectable_difference(differences)
        assert many is not None
        assert few == pytest.approx(2 * many)
        assert detectable_difference(differences, tasks=0) is None

    @pytest.mark.parametrize(("differences", "expected"), [([], None), ([0.5], None), ([0.0, 1.0], 1.0)])
    def test_detectable_difference_of_few_values(self, differences: list[float], expected: float | None) -> None:
        assert detectable_difference(differences) == expected


class TestSignTest:
    @pytest.mark.parametrize(
        ("one", "other", "p_value"),
        [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (4, 1, 0.375), (3, 3, 1.0), (10, 2, 0.03857421875)],
    )
    def test_sign_test_equals_worked_values(self, one: int, other: int, p_value: float) -> None:
        assert sign_test(one, other) == p_value

    @settings(deadline=None)
    @given(st.integers(0, 60), st.integers(0, 60))
    def test_agrees_with_the_binomial_test(self, one: int, other: int) -> None:
        assume(one + other > 0)
        assert sign_test(one, other) == pytest.approx(stats.binomtest(one, one + other).pvalue)

    def test_many_pairs_do_not_overflow(self) -> None:
        assert 0.0 <= sign_test(3000, 2000) < 1e-40
        assert math.isclose(sign_test(2500, 2500), 1.0)


class TestHolm:
    def test_holm_equals_the_worked_example(self) -> None:
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_no_tests_give_no_values(self) -> None:
        assert holm([]) == []

    @settings(deadline=None)
    @given(st.lists(st.floats(0, 1), min_size=1, max_size=7))
    def test_equals_bonferroni_over_nested_groups(self, p_values: list[float]) -> None:
        everyone = range(len(p_values))
        groups = [group for size in everyone for group in combinations(everyone, size + 1)]

        def adjusted(at: int) -> float:
            return max(min(1.0, len(group) * min(p_values[i] for i in group)) for group in groups if at in group)

        assert holm(p_values) == pytest.approx([adjusted(at) for at in everyone])
