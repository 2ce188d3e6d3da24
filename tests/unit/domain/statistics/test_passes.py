from collections.abc import Callable

import pytest
from scipy import stats  # type: ignore[import-untyped]

from backend.domain.statistics.intervals import TaskCluster, cluster_mean
from backend.domain.statistics.passes import over_passes, pass_at_k, pass_hat_k, pool

Rule = Callable[[int, int, int], float]
COUNTS = [(n, solved, k) for n in range(1, 7) for solved in range(n + 1) for k in range(1, n + 1)]


class TestPassAtK:
    @pytest.mark.parametrize(("n", "solved", "k"), COUNTS)
    def test_equals_the_hypergeometric(self, n: int, solved: int, k: int) -> None:
        assert pass_at_k(n, solved, k) == pytest.approx(1 - stats.hypergeom.pmf(0, n, solved, k))

    @pytest.mark.parametrize("rule", [pass_at_k, pass_hat_k])
    def test_k_of_one_is_the_rate(self, rule: Rule) -> None:
        assert rule(5, 2, 1) == pytest.approx(0.4)

    @pytest.mark.parametrize(("n", "solved", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
    @pytest.mark.parametrize("rule", [pass_at_k, pass_hat_k])
    def test_impossible_counts_are_refused(self, rule: Rule, n: int, solved: int, k: int) -> None:
        with pytest.raises(ValueError, match="passes"):
            rule(n, solved, k)


class TestPassHatK:
    @pytest.mark.parametrize(("n", "solved", "k"), COUNTS)
    def test_equals_the_hypergeometric(self, n: int, solved: int, k: int) -> None:
        assert pass_hat_k(n, solved, k) == pytest.approx(stats.hypergeom.pmf(k, n, solved, k))

    def test_pass_hat_k_is_unbiased(self) -> None:
        """Over all outcomes of 4 passes with probability 0.3 each, its mean is 0.3 ** 2."""
        mean = sum(stats.binom.pmf(solved, 4, 0.3) * pass_hat_k(4, solved, 2) for solved in range(5))
        assert mean == pytest.approx(0.09)


class TestPooled:
    def test_each_task_counts_once(self) -> None:
        estimate = pool([[1.0, 1.0, 0.5], [0.0], []])
        assert estimate is not None
        assert estimate.value == pytest.approx(2.5 / 6)
        assert estimate.tasks == 2
        assert estimate.interval == cluster_mean([TaskCluster(1, 2.5 / 3), TaskCluster(1, 0.0)])

    def test_is_undefined_without_scores(self) -> None:
        assert pool([]) is None
        assert pool([[]]) is None


class TestOverPasses:
    def test_tasks_with_fewer_passes_are_excluded(self) -> None:
        tasks = [(2, 1), (2, 2), (2, 0), (1, 1)]
        both, any_ = over_passes(tasks, 2, pass_hat_k), over_passes(tasks, 2, pass_at_k)
        assert both is not None
        assert any_ is not None
        assert [both.value, any_.value] == pytest.approx([1 / 3, 2 / 3])
        assert both.tasks == 3

    def test_is_undefined_without_enough_passes(self) -> None:
        assert over_passes([(1, 1)], 2, pass_at_k) is None
