"""Ranks and tie groups of a leaderboard."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from backend.domain.statistics.intervals import Interval

_CLOSE = 1e-9
"""Difference up to which estimates are equal: means of the same scores differ by rounding."""


def rank(value: float, others: Iterable[float]) -> int:
    """The rank of an estimate among others; equal ones share a rank."""
    return 1 + sum(other > value + _CLOSE for other in others)


class Standing(NamedTuple):
    """A place on a board.

    Attributes:
        rank: by the estimate; equal estimates share a rank.
        group: from 1; members of a group do not differ significantly from its best one.
        best, worst: the ranks that are compatible with the intervals.
    """

    rank: int
    group: int
    best: int
    worst: int


def standings(estimates: Sequence[tuple[float, Interval]]) -> list[Standing]:
    """The standing of each (estimate, interval), in the given order.

    Two entries differ if their intervals do not overlap. This is conservative: a paired test may find further
    differences.
    """
    order = sorted(range(len(estimates)), key=lambda at: -estimates[at][0])
    groups: dict[int, int] = {}
    leader, group = -1, 0
    for at in order:
        if leader < 0 or estimates[at][1].high < estimates[leader][1].low - _CLOSE:
            leader, group = at, group + 1
        groups[at] = group
    return [_standing(estimates, at, groups[at]) for at in range(len(estimates))]


def _standing(estimates: Sequence[tuple[float, Interval]], at: int, group: int) -> Standing:
    value, interval = estimates[at]
    others = [estimate for index, estimate in enumerate(estimates) if index != at]
    return Standing(
        rank=rank(value, (other for other, _ in others)),
        group=group,
        best=1 + sum(other.low > interval.high + _CLOSE for _, other in others),
        worst=len(estimates) - sum(other.high < interval.low - _CLOSE for _, other in others),
    )
