"""Score against cost of a leaderboard's ranked rows, with the Pareto front."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.statistics.pareto import pareto_front
from backend.services.results.views.leaderboard_models import Leaderboard, LeaderboardRow

COSTS: Mapping[str, tuple[str, Callable[[LeaderboardRow], float | None]]] = {
    "steps": ("steps per scored episode", lambda row: row.steps),
    "seconds": ("agent's seconds per scored episode", lambda row: row.agent_seconds),
}
"""What a score may be compared with: words, and its value."""


@dataclass(frozen=True)
class ParetoPoint:
    """One row. `x` and `y` in [0, 1], from the lower left; `front`: no other costs no more and scores higher."""

    row: LeaderboardRow
    cost: float
    score: float
    x: float
    y: float
    front: bool


@dataclass(frozen=True)
class ParetoChart:
    """Points by cost; `highest`: cost at the right end."""

    cost: str
    words: str
    points: Sequence[ParetoPoint]
    highest: float


def pareto_chart(board: Leaderboard, cost: str) -> ParetoChart:
    """The ranked rows that have a value of this cost, one of `COSTS`."""
    words, value = COSTS[cost]
    rows = [
        (row, at, row.primary.mean)
        for row in board.rows
        if row.rank is not None and row.primary is not None and (at := value(row)) is not None
    ]
    front = set(pareto_front([(at, score) for _, at, score in rows]))
    highest = max((at for _, at, _ in rows), default=0.0) or 1.0
    points = [
        ParetoPoint(row, at, score, at / highest, score, place in front) for place, (row, at, score) in enumerate(rows)
    ]
    return ParetoChart(cost, words, sorted(points, key=lambda point: point.cost), highest)
