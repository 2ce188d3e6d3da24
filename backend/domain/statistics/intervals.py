"""Confidence intervals of rates and means. Undefined values are None, never 0."""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 2000
_ALIKE = 1e-12
_LONG_MANTISSA = 63
"""Bits that a sum of many numbers needs to be right in the 52 bits of a float."""


class Interval(NamedTuple):
    """Lower and upper end, both included."""

    low: float
    high: float


class TaskCluster(NamedTuple):
    """Contribution of one task: number of its counted episodes, and the sum of their values."""

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
    interval = wilson_interval(successes / n, n, _normal(level))
    # The ends at 0 and n are exact; rounding must not move them past the rate itself.
    return Interval(0.0 if successes == 0 else interval.low, 1.0 if successes == n else interval.high)


def wilson_interval(rate: float, trials: float, z: float) -> Interval:
    """Wilson's interval of a rate for any number of trials and quantile, within [0, 1].

    Args:
        rate: in [0, 1].
        trials: above 0, whole or not.
        z: quantile of the standard normal distribution, or of Student's.
    """
    square = z * z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = z * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return Interval(max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half)))


def cluster_mean(
    clusters: Sequence[TaskCluster], *, level: float = LEVEL, low: float = 0.0, high: float = 1.0
) -> Interval | None:
    """Interval of a mean over episodes with tasks as clusters: Wilson's, by the effective number of trials.

    Episodes of one task are correlated, so tasks are what is drawn: the variance of the mean is that of a ratio (sum of
    totals) / (sum of n) of whole tasks. The effective number of trials is the number of 0/1 trials that would have that
    variance; Wilson's interval of it takes Student's quantile, as the variance is estimated from the tasks.
    Its coverage for 30 to 400 tasks is in docs/reports/statistics.md; the percentile bootstrap's is too low there.

    Sources: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 24 (1998); C. Franco, R. Little, T. Louis and E. Slud,
    "Comparative study of confidence intervals for proportions in complex sample surveys", J. Survey Statistics and
    Methodology 7 (2019); W. G. Cochran, "Sampling techniques", 3rd edition (1977), section 6.4, for the variance.

    Args:
        clusters: one per task; tasks without a counted episode are left out.
        level: confidence, in (0, 1).
        low: the smallest value that an episode can have.
        high: the largest one.

    Returns:
        None without counted episodes. For one episode per task, each `low` or `high`, it is Wilson's own interval.
        Where all tasks have the same mean m, the variance would pretend to certainty: then Wilson's interval says how
        large a share u of all tasks may be of another kind, although none of these is, and such a task may have any
        value, which gives m - u (m - low) to m + u (high - m).
    """
    counts = np.array([cluster.n for cluster in clusters], dtype=float)
    totals = np.array([cluster.total for cluster in clusters], dtype=float)
    return cluster_mean_of_columns(counts, totals, level=level, low=low, high=high)


def cluster_mean_of_columns(  # noqa: PLR0913 - two columns, and settings with defaults
    counts: NDArray[np.float64],
    totals: NDArray[np.float64],
    *,
    level: float = LEVEL,
    low: float = 0.0,
    high: float = 1.0,
    extremes: float = 0.0,
) -> Interval | None:
    """The interval of `cluster_mean` for many tasks at once.

    Args:
        counts: `n` of each task, of shape (tasks,).
        totals: `total` of each task, of the same shape.
        level: confidence, in (0, 1).
        low: the smallest value that an episode can have.
        high: the largest one.
        extremes: weight of one imagined task with the value `low` and one with `high`, in the variance only.
    """
    counts, totals = counts[counts > 0], totals[counts > 0]
    if not counts.size:
        return None
    if (counts == 1).all() and ((totals == low) | (totals == high)).all():
        ends = wilson_interval(float(np.mean(totals == high)), counts.size, _normal(level))
        return _scale_interval(ends, low, high)
    total = float(counts.sum())
    mean = exact_sum(totals) / total
    squares = exact_sum((totals - mean * counts) ** 2)
    if squares > _ALIKE:  # Where all tasks are alike, the variance says nothing.
        imagined = extremes * ((mean - low) ** 2 + (high - mean) ** 2) * (total / counts.size) ** 2
        squares = (squares + imagined) * counts.size / (counts.size + 2 * extremes)
    return effective_wilson(mean, math.sqrt(squares) / total, counts.size, level=level, low=low, high=high)


def exact_sum(column: NDArray[np.float64]) -> float:
    """The sum of a column, independent of its order.

    Of floats with a longer mantissa where the machine has them, which takes a quarter of the time of `math.fsum`.
    """
    if np.finfo(np.longdouble).nmant < _LONG_MANTISSA:
        return math.fsum(column.tolist())
    # Sorted, equal columns are added in the same order.
    return float(np.sort(column).sum(dtype=np.longdouble))


def effective_wilson(  # noqa: PLR0913 - three sums, and three settings with defaults
    mean: float, error: float, tasks: int, *, level: float = LEVEL, low: float = 0.0, high: float = 1.0
) -> Interval:
    """The interval of `cluster_mean` from sums.

    Args:
        mean: over episodes.
        error: sqrt(sum over tasks of (total - mean n)^2) / sum of n: the standard error, not yet corrected for what the
            mean was estimated from.
        tasks: 1 or more.
        level: confidence, in (0, 1).
        low: the smallest value that an episode can have.
        high: the largest one.
    """
    rate, deviation = min(1.0, max(0.0, (mean - low) / (high - low))), error / (high - low)
    if deviation < _ALIKE:
        share = wilson_interval(0.0, tasks, _normal(level)).high
        return _scale_interval(Interval(rate - share * rate, rate + share * (1 - rate)), low, high)
    effective = max(1.0, rate * (1 - rate) * (tasks - 1) / tasks / deviation**2)
    ends = wilson_interval(rate, effective, student_quantile(0.5 + level / 2, tasks - 1))
    return _scale_interval(ends, low, high)


def _normal(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _scale_interval(interval: Interval, low: float, high: float) -> Interval:
    """The interval of a rate on the scale from `low` to `high`."""
    return Interval(low + interval.low * (high - low), low + interval.high * (high - low))


def mean_interval(values: Sequence[float] | NDArray[np.float64], level: float = LEVEL) -> Interval | None:
    """Student's interval of the mean of values without bounds, such as seconds; None for fewer than two.

    Source: Student, "The probable error of a mean", Biometrika 6 (1908).
    """
    if len(values) < 2:  # noqa: PLR2004 - one value has no spread.
        return None
    column = np.asarray(values, dtype=float)
    mean, half = float(column.mean()), float(column.std(ddof=1)) / math.sqrt(len(column))
    half *= student_quantile(0.5 + level / 2, len(column) - 1)
    return Interval(mean - half, mean + half)


def total_interval(values: Sequence[float], number: int, level: float = LEVEL) -> Interval | None:
    """Prediction interval of the sum of `number` new values that vary like these; None for fewer than two values.

    n m +- t s sqrt(n + n^2 / k) with the mean m and the standard deviation s of k values: the new values vary, and the
    mean is uncertain, too. Values are 0 or more. Source: G. J. Hahn and W. Q. Meeker, "Statistical Intervals" (1991),
    section 4.7 (the mean of future observations, times their number).
    """
    count = len(values)
    if count < 2:  # noqa: PLR2004 - one value has no spread.
        return None
    expected = number * fmean(values)
    half = student_quantile(0.5 + level / 2, count - 1) * stdev(values) * math.sqrt(number + number**2 / count)
    return Interval(max(0.0, expected - half), expected + half)


def student_quantile(share: float, freedom: int) -> float:
    """Quantile of Student's t distribution, to about six digits.

    Source: G. W. Hill, "Algorithm 396: Student's t-quantiles", Communications of the ACM 13 (1970).

    Args:
        share: in (0.5, 1).
        freedom: degrees of freedom, 1 or more.
    """
    tails, n = 2 * (1 - share), float(freedom)
    if freedom == 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:  # noqa: PLR2004 - has a closed form, too.
        return math.sqrt(2 / (tails * (2 - tails)) - 2)
    a = 1 / (n - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * math.sqrt(a * math.pi / 2) * n
    y = (d * tails) ** (2 / n)
    if y <= 0.05 + a:
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y - 1) * (n + 1) / (
            n + 2
        ) + 1 / y
        return math.sqrt(n * y)
    x = NormalDist().inv_cdf(tails / 2)
    y = x**2
    if freedom < 5:  # noqa: PLR2004 - the algorithm's own bound.
        c += 0.3 * (n - 4.5) * (x + 0.6)
    c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c
    y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x
    return math.sqrt(n * math.expm1(a * y**2))


def mean_of_means(groups: Sequence[Sequence[TaskCluster]], *, level: float = LEVEL) -> tuple[float, Interval]:
    """The mean of the groups' means, each group with the same weight, and its interval.

    The groups' intervals are combined by MOVER: the distances of each end from its mean are added in squares. Source:
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Stat. Med. 27 (2008).

    Args:
        groups: at least one, each with a cluster with n > 0; no task is in two of them.
        level: confidence, in (0, 1).
    """
    means, lows, highs = [], [], []
    for clusters in groups:
        mean = math.fsum(cluster.total for cluster in clusters) / sum(cluster.n for cluster in clusters)
        interval = cluster_mean(clusters, level=level)
        if interval is None:
            raise ValueError("a group has no counted episode")
        means.append(mean)
        lows.append((mean - interval.low) ** 2)
        highs.append((interval.high - mean) ** 2)
    middle = math.fsum(means) / len(means)
    low, high = (math.sqrt(math.fsum(squares)) / len(means) for squares in (lows, highs))
    return middle, Interval(max(0.0, middle - low), min(1.0, middle + high))
