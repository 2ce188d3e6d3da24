"""The leaderboard's page: the board of a benchmark, cut by domain or difficulty for bars and their tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.words import Dimension
from backend.db.repositories import pages_benchmarks
from backend.domain.task import Difficulty
from backend.services.leaderboards import Board, Row, leaderboard
from backend.services.pages_actions import short
from backend.services.pages_runs import UNLABELLED
from backend.services.summary import Summary

CUTS = {"domain": Dimension.DOMAIN, "difficulty": Dimension.DIFFICULTY}
ORDER = [*map(str, Difficulty), UNLABELLED]


@dataclass(frozen=True)
class Series:
    """One agent configuration in a chart: its label, and its summary per key (None = nothing there)."""

    run_id: UUID
    label: str
    mark: str
    values: list[Summary | None]


@dataclass(frozen=True)
class Cut:
    """A board cut by one dimension."""

    dimension: str
    keys: list[str]
    series: list[Series]


def first_with_runs(session: Session) -> str | None:
    """The benchmark with most runs: where `/leaderboards` leads."""
    rows = sorted(pages_benchmarks.benchmarks(session), key=lambda row: (-row.runs, row.Benchmark.name))
    return rows[0].Benchmark.name if rows else None


def names(session: Session) -> list[str]:
    """All benchmarks, for the switch."""
    return [row.Benchmark.name for row in pages_benchmarks.benchmarks(session)]


def label(row: Row) -> str:
    """An agent with its parameters on one line."""
    params = ", ".join(f"{name}={_said(value)}" for name, value in row.agent.params.items() if value not in (None, ""))
    return short(f"{row.agent.name} ({params})" if params else row.agent.name, 60)


def _said(value: Any) -> str:
    return short(str(value), 24)


def cut(board: Board, dimension: str) -> Cut:
    """The board by `domain` or `difficulty`, rows with a scored episode only."""
    rows = [row for row in board.rows if row.summary.mean_score is not None]
    kind = CUTS[dimension]
    keys = _keys([key for row in rows for key in row.by.get(kind, {})], dimension)
    return Cut(
        dimension=dimension,
        keys=keys,
        series=[
            Series(row.run.id, label(row), row.mark, [row.by.get(kind, {}).get(key) for key in keys]) for row in rows
        ],
    )


def _keys(found: Sequence[str], dimension: str) -> list[str]:
    if dimension == "difficulty":
        return [name for name in ORDER if name in found]
    return sorted(set(found))


def board_of(session: Session, benchmark: str, version: int | None) -> Board:
    """The board. Raises NotFound."""
    return leaderboard(session, benchmark, version=version)
