"""Histograms of latencies that can be added up, with a known error of their quantiles."""

import math
from collections.abc import Sequence

FIRST = 0.05
"""Upper bound of the first class in seconds; the last one has none."""
GROWTH = 1.18
CLASSES = 64
"""Up to 28 minutes. A quantile is off by half a class at most: 9 %."""


def class_of(seconds: float) -> int:
    """Index of the class of a latency."""
    if seconds <= FIRST:
        return 0
    return min(CLASSES - 1, math.ceil(math.log(seconds / FIRST, GROWTH) - 1e-9))


def quantile(counts: Sequence[int], share: float) -> float | None:
    """Seconds within which that share of the latencies lies; None without latencies.

    Args:
        counts: latencies by class.
        share: 0.5 for the median.
    """
    rank, below = share * sum(counts), 0
    for index, count in enumerate(counts):
        below += count
        if count and below >= rank:
            return FIRST * GROWTH ** (index - 0.5) if index else FIRST
    return None


def add_histograms(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """The histogram of both."""
    return [
        (first[index] if index < len(first) else 0) + (second[index] if index < len(second) else 0)
        for index in range(max(len(first), len(second)))
    ]
