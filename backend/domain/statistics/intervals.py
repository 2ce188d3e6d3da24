"""Confidence intervals of rates and means. Undefined values are None, never 0."""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 2000
MANY = 2000
"""Clusters above which a mean has its normal interval: the bootstrap's differs by less than it does between seeds."""
_CHUNK_CELLS = 1_000_000
_FEW_KINDS = 8
"""Clusters per kind of cluster (equal n and total) from which on kinds are drawn, not clusters."""


class Interval(NamedTuple):
    """Lower and upper end, both included."""

    low: float
    high: float


class TaskCluster(NamedTuple):
    """What one task contributes: how many of its episodes count, and the sum of their values."""

    n: int
    total: float


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval for a rate; right also near 0 and 1 and for few episodes.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).

    Args:
        successes: 0 to n.
        n: independent trials.
        level: confidence, in (0, 1).

    Returns:
        None for n = 0.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    rate, square = successes / n, z * z
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n)) / (1 + square / n)
    # The ends at 0 and n are exact; rounding must not move them past the rate itself.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == n else min(1.0, middle + half)
    return Interval(low, high)


def cluster_mean(clusters: Sequence[TaskCluster], *, level: float = LEVEL) -> Interval | None:
    """The interval of a mean over episodes with tasks as clusters: bootstrap, or normal for more than `MANY` tasks.

    Returns:
        As `cluster_bootstrap_mean`.
    """
    counted = [cluster for cluster in clusters if cluster.n > 0]
    alike = all(cluster.total <= 0 for cluster in counted) or all(cluster.total >= cluster.n for cluster in counted)
    if len(counted) <= MANY or alike:
        return cluster_bootstrap_mean(counted, level=level)
    return ratio_normal(counted, level)


def ratio_normal(counted: Sequence[TaskCluster], level: float) -> Interval:
    """The normal interval of the ratio (sum of totals) / (sum of n), clusters being what is drawn; within [0, 1].

    Source: W. G. Cochran, "Sampling techniques", 3rd edition (1977), section 6.4, without the finite correction.

    Args:
        counted: two or more, each with n > 0.
        level: confidence, in (0, 1).
    """
    whole = sum(cluster.n for cluster in counted)
    ratio = math.fsum(cluster.total for cluster in counted) / whole
    squares = math.fsum((cluster.total - ratio * cluster.n) ** 2 for cluster in counted)
    error = math.sqrt(squares * len(counted) / (len(counted) - 1)) / whole
    half = NormalDist().inv_cdf(0.5 + level / 2) * error
    return Interval(max(0.0, ratio - half), min(1.0, ratio + half))


def cluster_bootstrap_mean(
    clusters: Sequence[TaskCluster], *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval | None:
    """Percentile bootstrap of the mean over episodes, drawing whole tasks with replacement.

    Episodes of one task are correlated, so tasks are resampled; the mean of a draw is the sum of its values by the
    number of its episodes (a ratio estimate). The same clusters and seed give the same interval.

    Source: A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application" (1997), section 3.8.

    Args:
        clusters: one per task; tasks without a counted episode are left out.
        level: confidence, in (0, 1).
        resamples: draws.
        seed: of the draws.

    Returns:
        None without counted episodes. With one task both ends are its mean. Where every episode is 0, or every one is
        1, each draw is alike and would pretend to certainty: then Wilson's interval with the tasks as trials, which is
        the widest that such tasks allow.
    """
    counted = sorted(cluster for cluster in clusters if cluster.n > 0)
    if not counted:
        return None
    if all(cluster.total <= 0 for cluster in counted):
        return wilson(0, len(counted), level)
    if all(cluster.total >= cluster.n for cluster in counted):
        return wilson(len(counted), len(counted), level)
    return ratio_interval(counted, level, resamples, seed)


def ratio_interval(counted: Sequence[TaskCluster], level: float, resamples: int, seed: int) -> Interval:
    """The percentile bootstrap itself: of sum of totals by sum of n, over draws of whole clusters.

    Args:
        counted: at least one, each with n > 0, sorted: the order decides what is drawn.
        level: confidence, in (0, 1).
        resamples: draws.
        seed: of the draws.
    """
    import numpy as np

    kinds, times = np.unique(np.array(counted, dtype=float), axis=0, return_counts=True)
    numbers, totals = kinds[:, 0], kinds[:, 1]
    if len(kinds) * _FEW_KINDS <= len(counted):
        # How often each kind of cluster is drawn is multinomial: the same draws, without drawing one by one.
        drawn = np.random.default_rng((seed, len(counted))).multinomial(
            len(counted), times / len(counted), size=resamples
        )
        means = (drawn @ totals) / (drawn @ numbers)
    else:
        numbers, totals = np.repeat(numbers, times), np.repeat(totals, times)
        means = np.concatenate(
            [totals[d].sum(axis=1) / numbers[d].sum(axis=1) for d in _draws(len(counted), resamples, seed)]
        )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    lowest, highest = float((totals / numbers).min()), float((totals / numbers).max())
    return Interval(min(max(float(low), lowest), highest), max(min(float(high), highest), lowest))


def _draws(n: int, resamples: int, seed: int) -> "Iterator[NDArray[np.int64]]":
    """Which of n clusters are in each draw: arrays of shape (draws, n), in parts that fit into memory."""
    import numpy as np

    generator = np.random.default_rng((seed, n))
    rows = max(1, _CHUNK_CELLS // n)
    for start in range(0, resamples, rows):
        yield generator.integers(0, n, size=(min(rows, resamples - start), n))
