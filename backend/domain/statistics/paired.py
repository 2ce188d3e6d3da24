"""Paired differences: the same tasks under two conditions. None without pairs."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from backend.domain.model.score import is_solved
from backend.domain.statistics.intervals import LEVEL, RESAMPLES, Interval, TaskCluster, ratio_interval, wilson

_ALIKE = 1e-12
MCNEMAR = "exact McNemar test"
SIGN = "exact sign test over tasks"


class Pair(NamedTuple):
    """Two episodes of one task that differ in one condition only, as scores in [0, 1]."""

    task: str
    base: float
    other: float


class Difference(NamedTuple):
    """How a rate differs: other minus base.

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


def compare(pairs: Iterable[Pair], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> Comparison:
    """Compares two conditions over their pairs. Neither the order of pairs nor the names of tasks matter."""
    all_pairs = sorted(pairs)
    if not all_pairs:
        return Comparison(0, 0, None, None, 0, 0, None, "")
    solved = [Pair(pair.task, float(is_solved(pair.base)), float(is_solved(pair.other))) for pair in all_pairs]
    only_base = sum(pair.base > pair.other for pair in solved)
    only_other = sum(pair.other > pair.base for pair in solved)
    p_value, test = _tested(solved)
    return Comparison(
        pairs=len(all_pairs),
        tasks=len({pair.task for pair in all_pairs}),
        success=_difference(solved, level, resamples, seed),
        score=_difference(all_pairs, level, resamples, seed),
        only_base=only_base,
        only_other=only_other,
        p_value=p_value,
        test=test,
    )


def _difference(pairs: Sequence[Pair], level: float, resamples: int, seed: int) -> Difference:
    base = math.fsum(pair.base for pair in pairs) / len(pairs)
    other = math.fsum(pair.other for pair in pairs) / len(pairs)
    value = math.fsum(pair.other - pair.base for pair in pairs) / len(pairs)
    bootstrap = paired_interval(_clusters(pairs), level=level, resamples=resamples, seed=seed)
    interval = Interval(min(bootstrap.low, value), max(bootstrap.high, value))
    return Difference(base, other, value, interval, (base - other) / base if base > 0 else None)


def _clusters(pairs: Sequence[Pair]) -> list[TaskCluster]:
    """One per task: its pairs and the sum of their differences."""
    by_task: dict[str, list[float]] = {}
    for pair in pairs:
        by_task.setdefault(pair.task, []).append(pair.other - pair.base)
    return [TaskCluster(len(values), math.fsum(values)) for values in by_task.values()]


def paired_interval(
    clusters: Sequence[TaskCluster], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Percentile bootstrap of a mean difference in [-1, 1], drawing whole tasks (`intervals.ratio_interval`).

    Where every task differs by the same d, each draw is alike and would pretend to certainty. Then Wilson's interval
    says how large a share u of all tasks may be of another kind, although none of these is; such a task may have any
    difference in [-1, 1], which gives d - u(1 + d) to d + u(1 - d).

    Args:
        clusters: one per task, each with n > 0 and the sum of its differences.
        level: confidence, in (0, 1).
        resamples: draws.
        seed: of the draws.
    """
    means = [cluster.total / cluster.n for cluster in clusters]
    if max(means) - min(means) > _ALIKE:
        return ratio_interval(sorted(clusters), level, resamples, seed)
    others = wilson(0, len(clusters), level)
    share, value = others.high if others is not None else 1.0, min(max(means[0], -1.0), 1.0)
    return Interval(max(-1.0, value - share * (1 + value)), min(1.0, value + share * (1 - value)))


def _tested(solved: Sequence[Pair]) -> tuple[float, str]:
    """By the net change of each task; with one pair per task that is McNemar's test."""
    clusters = _clusters(solved)
    worse, better = sum(cluster.total < 0 for cluster in clusters), sum(cluster.total > 0 for cluster in clusters)
    return sign_test(worse, better), MCNEMAR if len(clusters) == len(solved) else SIGN


def sign_test(one: int, other: int) -> float:
    """Two-sided exact p-value of `one` against `other` discordant pairs, both as likely under the hypothesis.

    With one trial per task this is the exact form of McNemar's test. 1 where nothing is discordant.
    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions" (1947).
    """
    n, fewer = one + other, min(one, other)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    value: float = 2 * tail / 2**n
    return min(1.0, value)


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
