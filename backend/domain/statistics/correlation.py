"""Correlation of two measures."""

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean

from backend.domain.statistics.intervals import LEVEL, Interval

_CLOSE = 1e-12
"""Relative difference up to which values are equal: means of the same scores differ by rounding."""


def ranked(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and math.isclose(values[order[end + 1]], values[order[start]], rel_tol=_CLOSE):
            end += 1
        for at in range(start, end + 1):
            ranks[order[at]] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing theirs.

    Source: C. Spearman, "The proof and measurement of association between two things", Am. J. Psychol. 15 (1904).

    Args:
        first: one measure.
        second: the other, of the same things in the same order.

    Returns:
        -1 to 1; None for fewer than three things, or where one measure is the same everywhere.
    """
    return pearson(ranked(first), ranked(second))


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's correlation coefficient.

    Source: K. Pearson, "Note on regression and inheritance in the case of two parents", Proc. R. Soc. 58 (1895).

    Args:
        first: one measure.
        second: the other, of the same things in the same order.

    Returns:
        -1 to 1; None for fewer than three things, or where one measure is the same everywhere.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values beside {len(second)}")
    if len(first) < 3 or _same(first) or _same(second):  # noqa: PLR2004 - two points are always on a line.
        return None
    a, b = fmean(first), fmean(second)
    squares = math.sqrt(sum((x - a) ** 2 for x in first) * sum((y - b) ** 2 for y in second))
    if squares <= 0:
        return None
    correlation = sum((x - a) * (y - b) for x, y in zip(first, second, strict=True)) / squares
    return min(1.0, max(-1.0, correlation))


def _same(values: Sequence[float]) -> bool:
    return math.isclose(min(values), max(values), rel_tol=_CLOSE)


def pearson_interval(r: float, n: int, level: float = LEVEL) -> Interval | None:
    """The interval of Pearson's correlation by Fisher's transformation: tanh(atanh r +- z / sqrt(n - 3)).

    Source: R. A. Fisher, "On the probable error of a coefficient of correlation", Metron 1 (1921).

    Returns:
        None for fewer than four things; for r = 1 or -1, where the transformation ends, r itself twice.
    """
    if n < 4:  # noqa: PLR2004 - the formula divides by n - 3.
        return None
    if abs(r) >= 1.0:
        return Interval(r, r)
    half = NormalDist().inv_cdf(0.5 + level / 2) / math.sqrt(n - 3)
    return Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
