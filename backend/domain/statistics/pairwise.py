"""Strengths from choices between two: the Bradley-Terry model with ties after Davidson.

With strengths pi > 0 and a tie parameter nu >= 0, of two contestants i and j: i is preferred with probability
pi_i / D, both are equal with nu * sqrt(pi_i * pi_j) / D, D = pi_i + pi_j + nu * sqrt(pi_i * pi_j). Source:
R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments", JASA 65
(1970). Without ties it is the model of Bradley and Terry (1952). A tie is not half a win: that would pull unequal
contestants together.

Ratings are `POINTS * ln(pi)`, on the Elo scale: 400 points are odds of 10 to 1, ignoring ties.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.domain.statistics.intervals import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

POINTS = 400.0 / math.log(10.0)
PRIOR = 0.5
"""Imagined wins and losses of each contestant against one of average strength. See `rate`."""
_Z = 1.959963984540054  # of a two-sided 95 % interval
_ROUNDS = 100
_CLOSE = 1e-12
_SMALLEST = 1e-10
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Score:
    """Result of all preferences between two contestants; names in any order, every pair once or more."""

    first: str
    second: str
    wins: float
    losses: float
    ties: float = 0.0


@dataclass(frozen=True)
class Rating:
    """A contestant's place.

    Attributes:
        group: contestants of one group are connected by preferences; groups are not comparable.
        points: 0 is the mean of its group.
        interval: 95 %, by Fisher information, of the difference to that mean.
        wins, losses, ties: choices, not imagined ones.
    """

    name: str
    group: int
    points: float
    interval: Interval
    wins: float
    losses: float
    ties: float


def chance(points: float) -> float:
    """Probability of being preferred to a contestant who is `points` lower, ignoring ties."""
    return 1.0 / (1.0 + math.exp(-points / POINTS))


def groups(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    """Contestants that are connected by choices, directly or over others; the largest group first."""
    near: dict[str, set[str]] = {}
    for score in scores:
        near.setdefault(score.first, set()).add(score.second)
        near.setdefault(score.second, set()).add(score.first)
    components, ungrouped = [], set(near)
    while ungrouped:
        reached, open_ = set[str](), {min(ungrouped)}
        while open_:
            reached |= open_
            open_ = {neighbor for name in open_ for neighbor in near[name]} - reached
        components.append(tuple(sorted(reached)))
        ungrouped -= reached
    return sorted(components, key=lambda names: (-len(names), names))


def rate(scores: Sequence[Score], *, prior: float = PRIOR) -> list[Rating]:
    """Ratings of all contestants, best first within each group.

    Args:
        scores: choices by pair.
        prior: imagined wins and imagined losses of each contestant against one of strength 1, and imagined ties and
            decisions between two of equal strength. It keeps a contestant finite who has won or lost every choice,
            and pulls the others together as much as that number of choices. 0 is maximum likelihood, which exists only
            if no set of contestants has always been preferred to the rest.

    Raises:
        ValueError: a contestant is paired with itself, a count is negative, or the maximum does not exist without a
            prior.
    """
    for score in scores:
        if score.first == score.second or min(score.wins, score.losses, score.ties) < 0.0:
            raise ValueError(f"no comparison of two: {score}")
    real = [score for score in scores if score.wins + score.losses + score.ties > 0.0]
    ratings: list[Rating] = []
    for number, names in enumerate(groups(real)):
        members = set(names)
        ratings += _fit_ratings(names, [score for score in real if score.first in members], number, prior)
    return ratings


def _fit_ratings(names: Sequence[str], scores: Sequence[Score], group: int, prior: float) -> list[Rating]:
    import numpy as np

    model = _Davidson(names, scores, prior)
    strengths, covariance = model.fitted()
    count = len(names)
    centre = np.eye(count) - np.full((count, count), 1.0 / count)
    points = POINTS * (centre @ strengths)
    spread = POINTS * _Z * np.sqrt(np.maximum(np.diag(centre @ covariance @ centre), 0.0))
    rows = [
        Rating(name, group, float(at), Interval(float(at - width), float(at + width)), *model.totals[name])
        for name, at, width in zip(names, points, spread, strict=True)
    ]
    return sorted(rows, key=lambda row: (-round(row.points, 6), row.name))


class _Davidson:
    """The log-likelihood in the logarithms of strengths and of the tie parameter, which is concave."""

    def __init__(self, names: Sequence[str], scores: Sequence[Score], prior: float) -> None:
        import numpy as np

        index_of = {name: number for number, name in enumerate(names)}
        self.count, self.prior = len(names), prior
        self.pairs: Any = np.array([(index_of[score.first], index_of[score.second]) for score in scores])
        self.outcomes: Any = np.array([(score.wins, score.losses, score.ties) for score in scores], dtype=float)
        self.with_ties = prior > 0.0 or bool(self.outcomes[:, 2].sum() > 0.0)
        self.totals = _totals(names, scores)

    def fitted(self) -> "tuple[Floats, Floats]":
        """Logarithms of the strengths, and their covariance, by Newton's method with halved steps."""
        import numpy as np

        if self.prior <= 0.0 and not self._has_maximum():
            raise ValueError("the choices have no most likely strengths", "somebody was always preferred: use a prior")
        # The likelihood depends on differences only: this fixes their sum at 0, and what is not fitted where it is.
        gauge: Any = np.zeros((self.count + 1, self.count + 1))
        gauge[: self.count, : self.count] = 1.0
        gauge[self.count, self.count] = 0.0 if self.with_ties else 1.0
        at: Any = np.zeros(self.count + 1)
        value, slope, bend = self._at(at)
        for _ in range(_ROUNDS):
            covariance = np.linalg.inv(bend + gauge)
            step = covariance @ slope
            # Half of slope @ step is what the step can still add to the log-likelihood, whatever the counts.
            if slope @ step < _CLOSE:
                break
            size = 1.0
            while size > _SMALLEST and self._at(at + size * step)[0] < value - _ROUNDING * abs(value):
                size /= 2.0
            at = at + size * step
            value, slope, bend = self._at(at)
        return at[: self.count], covariance[: self.count, : self.count]

    def _has_maximum(self) -> bool:
        """Whether the likelihood has a maximum without a prior.

        It has none if strengths can grow apart for ever without making a choice less likely. Without ties, that is
        where the graph of wins is not strongly connected (Ford 1957). With ties the tie parameter may grow, too: then
        each winner is 2 or more units above the loser, and those of a tie are at most 2 apart.
        """
        import numpy as np

        beaten: Any = np.zeros((self.count, self.count), dtype=bool)
        tied: Any = np.zeros((self.count, self.count), dtype=bool)
        for (first, second), (wins, losses, ties) in zip(self.pairs, self.outcomes, strict=True):
            beaten[first, second] |= wins > 0.0
            beaten[second, first] |= losses > 0.0
            tied[first, second] |= ties > 0.0
        tied |= tied.T
        reached = beaten | tied | np.eye(self.count, dtype=bool)
        # How far a row may be above a column at most: shortest paths, where a negative cycle is a contradiction.
        above = np.where(beaten.T, -2.0, np.where(tied, 2.0, np.inf))
        for by in range(self.count):
            reached |= reached[:, by, None] & reached[by]
            above = np.minimum(above, above[:, by, None] + above[by])
        return bool(reached.all()) and (not self.with_ties or bool((np.diag(above) < 0.0).any()))

    def _at(self, at: "Floats") -> "tuple[float, Floats, Floats]":
        """Log-likelihood, its gradient, and minus its second derivative."""
        import numpy as np

        size = self.count + 1
        slope: Any = np.zeros(size)
        bend: Any = np.zeros((size, size))
        value = 0.0
        for (first, second), outcome in zip(self.pairs, self.outcomes, strict=True):
            # Rows: one preferred, two preferred, equal; each outcome's weight is exp(row @ at).
            rows = np.zeros((3, size))
            rows[0, first] = rows[1, second] = 1.0
            rows[2, [first, second, self.count]] = 0.5, 0.5, 1.0
            value += _add(rows, outcome, at, slope, bend, kinds=3 if self.with_ties else 2)
        if self.prior > 0.0:
            for name in range(self.count):
                rows = np.zeros((2, size))
                rows[0, name] = 1.0
                value += _add(rows, np.full(2, self.prior), at, slope, bend, kinds=2)
            rows = np.zeros((3, size))
            rows[2, self.count] = 1.0
            value += _add(rows, np.array([0.5, 0.5, 1.0]) * self.prior, at, slope, bend, kinds=3)
        return value, slope, bend


def _add(rows: Any, outcome: Any, at: Any, slope: Any, bend: Any, *, kinds: int) -> float:  # noqa: PLR0913, PLR0917 - one term
    """Adds one multinomial term in place and returns its log-likelihood."""
    import numpy as np

    rows, outcome = rows[:kinds], outcome[:kinds]
    logits = rows @ at
    logits -= logits.max()  # Relative to the largest: else most digits cancel below where one wins a million times.
    weights = np.exp(logits)
    shares = weights / weights.sum()
    number = float(outcome.sum())
    slope += rows.T @ (outcome - number * shares)
    bend += number * (rows.T @ (np.diag(shares) - np.outer(shares, shares)) @ rows)
    return float(outcome @ logits) - number * float(np.log1p(np.sort(weights)[:-1].sum()))


def _totals(names: Sequence[str], scores: Sequence[Score]) -> Mapping[str, tuple[float, float, float]]:
    totals = dict.fromkeys(names, (0.0, 0.0, 0.0))
    for score in scores:
        for name, (wins, losses) in (
            (score.first, (score.wins, score.losses)),
            (score.second, (score.losses, score.wins)),
        ):
            total = totals[name]
            totals[name] = (total[0] + wins, total[1] + losses, total[2] + score.ties)
    return totals
