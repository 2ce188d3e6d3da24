import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.intervals import (
    MANY,
    TaskCluster,
    cluster_bootstrap_mean,
    cluster_mean,
    ratio_interval,
    ratio_normal,
    wilson,
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
    def test_published_values(self, successes: int, n: int, low: float, high: float) -> None:
        found = wilson(successes, n)
        assert found is not None
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)

    def test_nothing_counted_says_nothing(self) -> None:
        assert wilson(0, 0) is None

    @pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
    def test_impossible_counts_are_refused(self, successes: int, n: int) -> None:
        with pytest.raises(ValueError, match="successes"):
            wilson(successes, n)

    @given(rates())
    def test_holds_the_rate_and_lies_in_the_unit_interval(self, rate: tuple[int, int]) -> None:
        successes, n = rate
        found = wilson(successes, n)
        assert found is not None
        assert 0.0 <= found.low <= successes / n <= found.high <= 1.0

    @given(rates())
    def test_is_symmetric(self, rate: tuple[int, int]) -> None:
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
        found = wilson(7, 25)
        assert found is not None
        z = 1.959963984540054
        for end in found:
            assert abs(7 / 25 - end) == pytest.approx(z * math.sqrt(end * (1 - end) / 25), rel=1e-9)


class TestClusterBootstrapMean:
    def test_nothing_counted_says_nothing(self) -> None:
        assert cluster_bootstrap_mean([]) is None
        assert cluster_bootstrap_mean([TaskCluster(0, 0.0)]) is None

    def test_one_task_says_nothing_about_others(self) -> None:
        assert cluster_bootstrap_mean([TaskCluster(4, 1.0)]) == (0.25, 0.25)

    def test_equal_tasks_leave_no_doubt(self) -> None:
        assert cluster_bootstrap_mean([TaskCluster(2, 1.0)] * 9) == (0.5, 0.5)

    def test_all_or_nothing_is_no_certainty(self) -> None:
        """Every draw of equal tasks is alike: 44 of 44 solved, three times each, says no more than 44 trials can."""
        assert cluster_bootstrap_mean([TaskCluster(3, 3.0)] * 44) == wilson(44, 44)
        assert cluster_bootstrap_mean([TaskCluster(3, 0.0)] * 44) == wilson(0, 44)

    def test_agrees_with_the_normal_approximation_for_many_tasks(self) -> None:
        found = cluster_bootstrap_mean([TaskCluster(1, float(n % 2)) for n in range(1000)])
        assert found is not None
        half = 1.96 * math.sqrt(0.25 / 1000)
        assert found.low == pytest.approx(0.5 - half, abs=0.005)
        assert found.high == pytest.approx(0.5 + half, abs=0.005)

    def test_repeats_of_one_task_are_no_new_evidence(self) -> None:
        """Ten tasks, each always solved or never: repeating them ten times must not narrow the interval."""
        once = cluster_bootstrap_mean([TaskCluster(1, float(n % 2)) for n in range(10)])
        often = cluster_bootstrap_mean([TaskCluster(10, 10.0 * (n % 2)) for n in range(10)])
        assert once == often

    def test_covers_the_truth_about_as_often_as_it_says(self) -> None:
        import random

        generator = random.Random(1)  # noqa: S311 - a sample
        hits = 0
        for _ in range(300):
            tasks = [generator.random() for _ in range(60)]
            found = cluster_bootstrap_mean([TaskCluster(1, value) for value in tasks], resamples=400)
            assert found is not None
            hits += found.low <= 0.5 <= found.high
        assert 0.90 <= hits / 300 <= 0.985

    @given(clusters())
    def test_lies_between_the_tasks_means_in_order(self, made: list[TaskCluster]) -> None:
        found = cluster_bootstrap_mean(made, resamples=100)
        means = [cluster.total / cluster.n for cluster in made if cluster.n]
        if not means:
            assert found is None
            return
        assert found is not None
        if all(mean == means[0] in {0.0, 1.0} for mean in means):
            assert found.low <= means[0] <= found.high
            return
        assert min(means) - 1e-12 <= found.low <= found.high <= max(means) + 1e-12

    @given(clusters(), st.integers(0, 5))
    def test_same_seed_same_interval_in_whatever_order(self, made: list[TaskCluster], seed: int) -> None:
        one = cluster_bootstrap_mean(made, resamples=50, seed=seed)
        assert one == cluster_bootstrap_mean(made[::-1], resamples=50, seed=seed)

    def test_many_tasks_are_drawn_in_parts(self) -> None:
        found = cluster_bootstrap_mean([TaskCluster(1, float(n % 4 == 0)) for n in range(30_000)], resamples=80)
        assert found is not None
        assert 0.24 < found.low < 0.25 < found.high < 0.26


class TestClusterMean:
    def test_few_tasks_have_the_bootstrap(self) -> None:
        clusters = [TaskCluster(1, total) for total in (0.0, 0.5, 1.0, 1.0)]
        assert cluster_mean(clusters) == cluster_bootstrap_mean(clusters)

    def test_many_tasks_have_nearly_the_same_at_once(self) -> None:
        draw = random.Random(5)
        clusters = [TaskCluster(n := draw.randint(1, 3), draw.random() * n) for _ in range(MANY + 1)]
        normal, drawn = cluster_mean(clusters), cluster_bootstrap_mean(clusters)
        assert normal is not None
        assert drawn is not None
        assert normal == pytest.approx(drawn, abs=0.001)
        assert normal != drawn

    def test_alike_and_empty_ones_are_as_ever(self) -> None:
        many = [TaskCluster(1, 1.0)] * (MANY + 1)
        assert cluster_mean(many) == wilson(MANY + 1, MANY + 1)
        assert cluster_mean([TaskCluster(0, 0.0)]) is None


class TestRatioNormal:
    def test_worked_example(self) -> None:
        # R = 3/5; residuals 1 - 1.2 = -0.2, 2 - 1.8 = 0.2; variance 2/1 * 0.08 / 25 = 0.0064, so 0.6 +- 1.96 * 0.08.
        found = ratio_normal([TaskCluster(2, 1.0), TaskCluster(3, 2.0)], 0.95)
        assert found == pytest.approx((0.6 - 1.959964 * 0.08, 0.6 + 1.959964 * 0.08))

    def test_stays_between_0_and_1(self) -> None:
        assert ratio_normal([TaskCluster(1, 0.0), TaskCluster(1, 1.0)], 0.95) == (0.0, 1.0)


class TestRatioInterval:
    def test_drawing_kinds_gives_what_drawing_clusters_gives(self) -> None:
        few = sorted([TaskCluster(1, 0.0)] * 300 + [TaskCluster(1, 1.0)] * 200 + [TaskCluster(3, 1.0)] * 100)
        many = sorted(TaskCluster(one.n, abs(one.total - at * 1e-9)) for at, one in enumerate(few))
        by_kind, by_cluster = (ratio_interval(made, 0.95, 4000, 1) for made in (few, many))
        assert by_kind == pytest.approx(by_cluster, abs=0.004)
        assert by_kind == pytest.approx(ratio_normal(few, 0.95), abs=0.004)
