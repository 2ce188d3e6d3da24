"""Distributions: five-number summary and histogram with equal bins. None without values."""

from collections.abc import Sequence
from typing import NamedTuple

BINS = 12


class Spread(NamedTuple):
    """Five numbers and the mean of n values; quartiles by linear interpolation (Hyndman and Fan's type 7)."""

    n: int
    lowest: float
    lower: float
    median: float
    upper: float
    highest: float
    mean: float


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of the values, in any order."""
    if not values:
        return None
    ranked = sorted(values)
    lower, median, upper = (_quantile(ranked, share) for share in (0.25, 0.5, 0.75))
    return Spread(len(ranked), ranked[0], lower, median, upper, ranked[-1], sum(ranked) / len(ranked))


def _quantile(ranked: Sequence[float], share: float) -> float:
    position = share * (len(ranked) - 1)
    before = int(position)
    after = min(before + 1, len(ranked) - 1)
    return ranked[before] + (position - before) * (ranked[after] - ranked[before])


class Bar(NamedTuple):
    """Whole numbers from `first` to `last`, both included."""

    first: int
    last: int

    @property
    def label(self) -> str:
        """`7`, or `7 to 9`."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


def bars(highest: int, most: int = BINS) -> list[Bar]:
    """Bars of equal width that cover 0 to `highest`, `most` at the most."""
    width = highest // most + 1
    return [Bar(first, first + width - 1) for first in range(0, highest + 1, width)]


def histogram(values: Sequence[int], into: Sequence[Bar]) -> list[int]:
    """Number of values per bin."""
    return [sum(bar.first <= value <= bar.last for value in values) for bar in into]
