"""Paired differences: the same tasks under two conditions. None without pairs."""

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backend.domain.model.score import is_solved
from backend.domain.statistics.intervals import (
    LEVEL,
    Interval,
    TaskCluster,
    cluster_mean,
    cluster_mean_of_columns,
    exact_sum,
)
from backend.domain.statistics.permutation import fair_tail

MCNEMAR = "exact McNemar test"
SIGN = "exact sign test over tasks"


class Pair(NamedTuple):
    """Two episodes of one task that differ in one condition only, as scores in [0, 1]."""

    task: str
    base: float
    other: float


class Difference(NamedTuple):
    """Difference of a rate: other minus base.

    Attributes:
        base, other: the rate under both conditions, over the same pairs.
        value: in [-1, 1].
        interval: of `value`.
        relative_drop: (base - other) / base; negative for a gain, None where base is 0.
    """

    base: float
    other: float
    value: float
    interval: Interval
    relative_drop: float | None


class Comparison(NamedTuple):
    """Two conditions, compared.

    Attributes:
        pairs: how many.
        tasks: distinct tasks among them.
        success, score: differences of success rate and mean score; None without a pair.
        only_base, only_other: pairs that only one of the two solved.
        p_value: of `test`, two-sided, that success is as likely under both; None without a pair.
        test: `MCNEMAR`, or `SIGN` if a task has several pairs, which are not independent.
    """

    pairs: int
    tasks: int
    success: Difference | None
    score: Difference | None
    only_base: int
    only_other: int
    p_value: float | None
    test: str


def compare(pairs: Iterable[Pair], *, level: float = LEVEL) -> Comparison:
    """Compares two conditions over their pairs. Neither the order of pairs nor the names of tasks matter."""
    all_pairs = sorted(pairs)
    if not all_pairs:
        return Comparison(0, 0, None, None, 0, 0, None, "")
    solved = [Pair(pair.task, float(is_solved(pair.base)), float(is_solved(pair.other))) for pair in all_pairs]
    only_base = sum(pair.base > pair.other for pair in solved)
    only_other = sum(pair.other > pair.base for pair in solved)
    p_value, test = _sign_test(solved)
    return Comparison(
        pairs=len(all_pairs),
        tasks=len({pair.task for pair in all_pairs}),
        success=difference(solved, level),
        score=difference(all_pairs, level),
        only_base=only_base,
        only_other=only_other,
        p_value=p_value,
        test=test,
    )


def difference(pairs: Sequence[Pair], level: float = LEVEL) -> Difference:
    """Difference of the means over one pair or more; tasks are resampled."""
    base = math.fsum(pair.base for pair in pairs) / len(pairs)
    other_mean = math.fsum(pair.other for pair in pairs) / len(pairs)
    value = math.fsum(pair.other - pair.base for pair in pairs) / len(pairs)
    interval = cluster_mean(_clusters(pairs), level=level, low=-1.0)
    return Difference(
        base, other_mean, value, interval or Interval(-1.0, 1.0), (base - other_mean) / base if base > 0 else None
    )


def difference_of_columns(base: NDArray[np.float64], other: NDArray[np.float64], level: float = LEVEL) -> Difference:
    """Difference of the means over one task or more, each with a value under both conditions: shape (tasks,)."""
    changes = other - base
    base_mean, other_mean, value = (exact_sum(column) / len(column) for column in (base, other, changes))
    interval = cluster_mean_of_columns(np.ones(len(changes)), changes, level=level, low=-1.0)
    return Difference(
        base_mean,
        other_mean,
        value,
        interval or Interval(-1.0, 1.0),
        (base_mean - other_mean) / base_mean if base_mean > 0 else None,
    )


def _clusters(pairs: Sequence[Pair]) -> list[TaskCluster]:
    """One per task: its pairs and the sum of their differences."""
    by_task: dict[str, list[float]] = {}
    for pair in pairs:
        by_task.setdefault(pair.task, []).append(pair.other - pair.base)
    return [TaskCluster(len(values), math.fsum(values)) for values in by_task.values()]


def _sign_test(solved: Sequence[Pair]) -> tuple[float, str]:
    """By the net change of each task; with one pair per task that is McNemar's test."""
    clusters = _clusters(solved)
    worse, better = sum(cluster.total < 0 for cluster in clusters), sum(cluster.total > 0 for cluster in clusters)
    return sign_test(worse, better), MCNEMAR if len(clusters) == len(solved) else SIGN


def sign_test(first: int, second: int) -> float:
    """Two-sided exact p-value of `first` against `second` discordant pairs, both as likely under the hypothesis.

    With one trial per task this is the exact form of McNemar's test. 1 where nothing is discordant.
    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions" (1947).
    """
    return min(1.0, 2 * fair_tail(min(first, second), first + second))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of a family of tests, in the given order.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statistics 6 (1979).
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def detectable_difference(
    differences: Sequence[float] | NDArray[np.float64],
    *,
    tasks: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float | None:
    """The smallest mean difference that tasks which vary like these would show with this power, two-sided.

    (z(1 - alpha / 2) + z(power)) * s / sqrt(n), s being the standard deviation of the tasks' differences. Where each
    is -1, 0 or 1, an exact test needs log2(2 / alpha) tasks or more that all changed one way, which is a lower bound.
    Source: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 5.

    Args:
        differences: one per task, in [-1, 1].
        tasks: number of tasks of the comparison, if it is another one than that of these differences.
        alpha: probability of a false alarm.
        power: probability of finding such a difference.

    Returns:
        None for fewer than two tasks.
    """
    n = len(differences) if tasks is None else tasks
    if len(differences) < 2 or n < 1:  # noqa: PLR2004 - one task has no spread.
        return None
    quantiles = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    column = np.sort(np.asarray(differences, dtype=float))  # Sorted, so that no order of tasks changes the sums.
    smallest = quantiles * float(column.std(ddof=1)) / math.sqrt(n)
    if np.isin(column, (-1.0, 0.0, 1.0)).all():
        smallest = max(smallest, math.ceil(math.log2(2 / alpha)) / n)
    return min(1.0, smallest)
