"""Leaderboard page: a benchmark's board, cut by a dimension for charts and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.benchmarks import benchmarks_view
from backend.domain.model.measures import info
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.task import Difficulty
from backend.domain.statistics.intervals import Interval
from backend.services.results.leaderboards import BenchmarkBoard, BoardRow, label, leaderboard
from backend.services.results.measure_rollups import Means
from backend.services.runs.summary import RunSummary
from backend.services.runs.views.run_page import UNLABELLED

CUTS = {
    "domain": Dimension.DOMAIN,
    "difficulty": Dimension.DIFFICULTY,
    "level": Dimension.LEVEL,
    "capability": Dimension.CAPABILITY,
    "complexity": Dimension.COMPLEXITY,
}
RATES = {"mean": "mean score", "success": "success rate"}
"""Values of a chart besides measures."""
DIFFICULTIES = [*map(str, Difficulty), UNLABELLED]
PAPERS = "CR"
"""Values of OmniBench's own tables of capabilities and complexities."""
_ORDERS: Mapping[str, Sequence[str]] = {
    "difficulty": DIFFICULTIES,
    "capability": list(CAPABILITIES),
    "complexity": [f"{name}/{level}" for name in COMPLEXITIES for level in Difficulty],
}


@dataclass(frozen=True)
class ChartValue:
    """One value of a chart with its interval; `note` says what it is based on."""

    value: float
    interval: Interval | None
    n: int
    note: str


@dataclass(frozen=True)
class ChartCell:
    """Result of a configuration under one key; `summary` None = no data."""

    summary: RunSummary | None
    means: Means

    def value(self, measure: str) -> ChartValue | None:
        """A rate (`RATES`) or a measure; None without a value."""
        if measure in RATES:
            return _rate(self.summary, measure)
        measure_mean = self.means.get(measure)
        if measure_mean is None:
            return None
        lacking = f"; undefined for {measure_mean.undefined_tasks}" if measure_mean.undefined_tasks else ""
        return ChartValue(
            measure_mean.mean, measure_mean.interval, measure_mean.n, f"{measure_mean.tasks} tasks{lacking}"
        )


def _rate(summary: RunSummary | None, measure: str) -> ChartValue | None:
    if summary is None or summary.mean_score is None or summary.success_rate is None:
        return None
    scored, note = summary.counts.scored, summary.counts_text
    if measure == "mean":
        return ChartValue(summary.mean_score, summary.mean_interval, scored, note)
    return ChartValue(summary.success_rate, summary.success_interval, scored, note)


@dataclass(frozen=True)
class LeaderboardSeries:
    """One agent configuration in a chart: its label, and its cell per key."""

    run_id: UUID
    label: str
    mark: str
    cells: list[ChartCell]


@dataclass(frozen=True)
class BoardBreakdown:
    """A board cut by one dimension.

    Attributes:
        measures: available measures with titles, by name.
        shown: selected value.
    """

    dimension: str
    keys: list[str]
    series: list[LeaderboardSeries]
    measures: Mapping[str, str]
    shown: str


def first_with_runs(session: Session) -> str | None:
    """The benchmark with most runs, the target of `/leaderboards`."""
    rows = sorted(benchmarks_view.benchmarks(session), key=lambda row: (-row.runs, row.Benchmark.name))
    return rows[0].Benchmark.name if rows else None


def names(session: Session) -> list[str]:
    """All benchmarks, for the switch."""
    return [row.Benchmark.name for row in benchmarks_view.benchmarks(session)]


def cut(board: BenchmarkBoard, dimension: str, measure: str | None = None) -> BoardBreakdown:
    """The board by a dimension, only rows with a scored episode.

    Args:
        board: of a benchmark.
        dimension: one of `CUTS`.
        measure: a rate or a measure; an unavailable one, or None: the mean score, or coverage rate where the paper's
            table has it.
    """
    rows = [row for row in board.rows if row.summary.mean_score is not None]
    kind = CUTS[dimension]
    keys = _keys({key for row in rows for key in row.by.get(kind, {})}, dimension)
    series = [
        LeaderboardSeries(row.run.id, label(row), row.mark, [_cell(row, kind, key) for key in keys]) for row in rows
    ]
    measures = {**RATES, **{name: info(name).title for name in board.measures}}
    usual = PAPERS if PAPERS in measures and dimension in {"capability", "complexity"} else "mean"
    return BoardBreakdown(dimension, keys, series, measures, measure if measure in measures else usual)


def _cell(row: BoardRow, kind: Dimension, key: str) -> ChartCell:
    return ChartCell(row.by.get(kind, {}).get(key), row.measures.get(kind, {}).get(key, {}))


def _keys(keys: set[str], dimension: str) -> list[str]:
    order = _ORDERS.get(dimension)
    return sorted(keys) if order is None else [name for name in order if name in keys]


def board_of(session: Session, benchmark: str, version: int | None) -> BenchmarkBoard:
    """The board. Raises NotFound."""
    return leaderboard(session, benchmark, version=version)


def sorted_by(board: BenchmarkBoard, column: str) -> BenchmarkBoard:
    """The board sorted by a column, highest first and rows without a value last; any other word: by rank."""
    by: dict[str, Callable[[BoardRow], float | None]] = {
        "mean": lambda row: row.summary.mean_score,
        "success": lambda row: row.summary.success_rate,
    }

    def of(row: BoardRow) -> float | None:
        measure_mean = row.means.get(column)
        return by[column](row) if column in by else None if measure_mean is None else measure_mean.mean

    if column not in by and column not in board.measures:
        return board
    return replace(board, rows=sorted(board.rows, key=lambda row: (of(row) is None, -(of(row) or 0.0))))
