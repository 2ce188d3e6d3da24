"""Score against cost of a leaderboard's ranked rows, with the Pareto front."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.domain.statistics.pareto import pareto_front
from backend.services.results.views.board_columns import COSTS, NumberColumn
from backend.services.results.views.leaderboard_models import Leaderboard, LeaderboardRow


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
    """Points by cost; `highest`: cost at the right end; `missing`: reasons of ranked rows without a value."""

    column: NumberColumn
    points: Sequence[ParetoPoint]
    highest: float
    missing: Sequence[str]


def pareto_chart(board: Leaderboard, cost: str) -> ParetoChart:
    """The ranked rows that have a value of this cost, one of `COSTS`."""
    column = COSTS[cost]
    ranked = [(row, column.value(row), row.primary.mean) for row in board.rows if row.rank is not None and row.primary]
    rows = [(row, at, score) for row, at, score in ranked if at is not None]
    front = set(pareto_front([(at, score) for _, at, score in rows]))
    highest = max((at for _, at, _ in rows), default=0.0) or 1.0
    points = [
        ParetoPoint(row, at, score, at / highest, score, index in front) for index, (row, at, score) in enumerate(rows)
    ]
    missing = sorted({column.missing(row) or "no value" for row, at, _ in ranked if at is None})
    return ParetoChart(column, sorted(points, key=lambda point: point.cost), highest, missing)
