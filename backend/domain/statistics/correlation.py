"""How two measures go together."""

import math
from collections.abc import Sequence
from statistics import fmean


def ranked(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1; equal ones share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
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
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values beside {len(second)}")
    if len(first) < 3:  # noqa: PLR2004 - two points lie on a line whatever they are.
        return None
    a, b = ranked(first), ranked(second)
    mean = fmean(a)
    squares = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    if squares <= 0:
        return None
    return sum((x - mean) * (y - mean) for x, y in zip(a, b, strict=True)) / squares
