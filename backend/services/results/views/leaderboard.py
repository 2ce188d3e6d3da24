"""View of a leaderboard, and its breakdown by a dimension for charts and their tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models.enums import Dimension
from backend.db.repositories.benchmarks import benchmarks_view
from backend.domain.model.measures import info
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.score import SCORE
from backend.domain.model.task import DIFFICULTIES, Difficulty
from backend.domain.statistics.intervals import Interval
from backend.services.benchmarks.views.benchmark import PublishedResultView, TaskSetRef, reported_result
from backend.services.people.human_baselines import DomainRow, Means
from backend.services.read_model import ReadModel
from backend.services.results.leaderboards import BenchmarkBoard, BoardRow, label, leaderboard
from backend.services.results.measure_rollups import MeasureMean
from backend.services.runs.summary import RunSummary

CUTS = ("domain", "difficulty", "level", "capability", "complexity")
RATES = {"mean": "mean score", "success": "success rate"}
"""Values of a chart besides measures."""
_ORDERS: Mapping[str, Sequence[str]] = {
    "difficulty": DIFFICULTIES,
    "capability": list(CAPABILITIES),
    "complexity": [f"{name}/{level}" for name in COMPLEXITIES for level in Difficulty],
}


class MeasureDefinition(ReadModel):
    """Definition of a measure."""

    title: str = Field(examples=["CR"])
    text: str


class LeaderboardRow(ReadModel):
    """One agent configuration. `rank` is null for references."""

    rank: int | None = None
    tie_group: int | None = Field(default=None, description="Rows of one group cannot be told apart.")
    best_rank: int | None = Field(default=None, description="The ranks that are compatible with the intervals.")
    worst_rank: int | None = None
    agent: str
    label: str = Field(description="The agent with its parameters, on one line.")
    params: dict[str, Any] = Field(default={})
    reference: str = Field(default="", description="`floor`, `privileged` (it sees the task), `human` or empty.")
    variant: str | None = Field(default=None, description="Condition under which its tasks were done.")
    runs: list[UUID] = Field(default=[])
    created_at: datetime = Field(description="When the first of `runs`, which stands for all, was submitted.")
    primary: MeasureMean | None = Field(
        default=None, description="Mean of the board's `primary` measure, by which rows are ranked; null without one."
    )
    summary: RunSummary
    tasks: int = 0
    missing_tasks: int = Field(default=0, description="Tasks of the task set that this row has no scored episode of.")
    by_domain: dict[str, RunSummary] = Field(default={})
    by_difficulty: dict[str, RunSummary] = Field(default={})
    by_level: dict[str, RunSummary] = Field(default={})
    by_capability: dict[str, RunSummary] = Field(default={}, description="OmniBench's capabilities, by their letters.")
    by_complexity: dict[str, RunSummary] = Field(default={}, description="Its complexities, as in `branch/hard`.")
    measures: dict[str, MeasureMean] = Field(default={}, description="Over all tasks, by the measure's name.")
    measures_by: dict[str, dict[str, dict[str, MeasureMean]]] = Field(
        default={}, description="By dimension (`level`, `capability`, ...), then by key, then by measure."
    )
    people: Means | None = Field(default=None, description="Of a human row: means of steps, time and rating.")
    efficiency: tuple[float, int] | None = Field(
        default=None, description="Steps of solved episodes over a person's median steps: mean ratio, episodes."
    )

    def by(self, dimension: str) -> dict[str, RunSummary]:
        """Summaries by the keys of one of `CUTS`."""
        summaries: dict[str, RunSummary] = getattr(self, f"by_{dimension}")
        return summaries


class Leaderboard(ReadModel):
    """Leaderboard of one task set."""

    benchmark: str
    task_set: TaskSetRef
    title: str
    kind: str
    tasks: int
    as_of: datetime | None = Field(default=None, description="When the newest of its figures were computed.")
    stale: bool = Field(default=False, description="Episodes have changed since; workers compute it again.")
    rows: list[LeaderboardRow] = Field(default=[])
    primary: str = Field(
        default=SCORE, description="Measure that ranks: that of the tasks' scoring protocol, such as `CR`, or `score`."
    )
    measures: dict[str, MeasureDefinition] = Field(default={}, description="Definitions of the rows' measures.")
    published_results: list[PublishedResultView] = Field(
        default=[], description="What papers report; no part of the ranking."
    )
    people: list[DomainRow] = Field(default=[], description="What people needed, by domain.")

    @property
    def primary_definition(self) -> MeasureDefinition:
        """Definition of the measure that ranks."""
        return _definition(self.primary)


def leaderboard_view(board: BenchmarkBoard) -> Leaderboard:
    """The view of a leaderboard."""
    return Leaderboard(
        benchmark=board.benchmark.name,
        title=board.benchmark.title,
        kind=board.benchmark.kind,
        task_set=TaskSetRef.model_validate(board.task_set),
        tasks=board.tasks,
        as_of=board.as_of,
        stale=board.stale,
        rows=[_row(row, board.tasks) for row in board.rows],
        primary=board.primary,
        measures={name: _definition(name) for name in board.measures},
        published_results=[reported_result(row) for row in board.reported],
        people=list(board.people),
    )


def _definition(name: str) -> MeasureDefinition:
    return MeasureDefinition(title=info(name).title, text=info(name).text)


def _row(row: BoardRow, tasks: int) -> LeaderboardRow:
    place = row.standing
    return LeaderboardRow(
        rank=place and place.rank,
        tie_group=place and place.group,
        best_rank=place and place.best,
        worst_rank=place and place.worst,
        agent=row.agent.name,
        label=label(row),
        params=row.agent.params,
        reference=row.reference,
        variant=row.run.config.get("variant"),
        runs=[row.run.id, *row.others],
        created_at=row.run.created_at,
        primary=row.primary,
        summary=row.summary,
        tasks=tasks - row.missing_tasks,
        missing_tasks=row.missing_tasks,
        by_domain=row.by.get(Dimension.DOMAIN, {}),
        by_difficulty=row.by.get(Dimension.DIFFICULTY, {}),
        by_level=row.by.get(Dimension.LEVEL, {}),
        by_capability=row.by.get(Dimension.CAPABILITY, {}),
        by_complexity=row.by.get(Dimension.COMPLEXITY, {}),
        measures=row.means,
        measures_by={dimension: cells for dimension, cells in row.measures.items() if dimension != Dimension.ALL},
        people=row.people,
        efficiency=row.efficiency,
    )


@dataclass(frozen=True)
class ChartValue:
    """One value of a chart with its interval; `note` describes its basis."""

    value: float
    interval: Interval | None
    n: int
    note: str


@dataclass(frozen=True)
class ChartCell:
    """Result of a configuration under one key; `summary` None = no data."""

    summary: RunSummary | None
    means: Mapping[str, MeasureMean]

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
    reference: str
    cells: list[ChartCell]


@dataclass(frozen=True)
class BoardBreakdown:
    """A board cut by one dimension.

    Attributes:
        measures: available measures with titles, by name.
        measure: selected value.
    """

    dimension: str
    keys: list[str]
    series: list[LeaderboardSeries]
    measures: Mapping[str, str]
    measure: str


def first_with_runs(session: Session) -> str | None:
    """The benchmark with most runs, the target of `/leaderboards`."""
    rows = sorted(benchmarks_view.benchmarks(session), key=lambda row: (-row.runs, row.Benchmark.name))
    return rows[0].Benchmark.name if rows else None


def names(session: Session) -> list[str]:
    """All benchmarks, for the switch."""
    return [row.Benchmark.name for row in benchmarks_view.benchmarks(session)]


def cut(board: Leaderboard, dimension: str, measure: str | None = None) -> BoardBreakdown:
    """The board by a dimension, rows with a scored episode only.

    Args:
        board: a benchmark's leaderboard.
        dimension: one of `CUTS`.
        measure: a rate or a measure; if unavailable or None, the board's primary measure.
    """
    rows = [row for row in board.rows if row.summary.mean_score is not None]
    keys = _keys({key for row in rows for key in row.by(dimension)}, dimension)
    series = [
        LeaderboardSeries(row.runs[0], row.label, row.reference, [_cell(row, dimension, key) for key in keys])
        for row in rows
    ]
    measures = {**RATES, **{name: measure.title for name, measure in board.measures.items()}}
    usual = board.primary if board.primary in measures else "mean"
    return BoardBreakdown(dimension, keys, series, measures, measure if measure in measures else usual)


def _cell(row: LeaderboardRow, dimension: str, key: str) -> ChartCell:
    return ChartCell(row.by(dimension).get(key), row.measures_by.get(dimension, {}).get(key, {}))


def _keys(keys: set[str], dimension: str) -> list[str]:
    order = _ORDERS.get(dimension)
    return sorted(keys) if order is None else [name for name in order if name in keys]


def board_of(session: Session, benchmark: str, version: int | None) -> Leaderboard:
    """The board. Raises NotFound."""
    return leaderboard_view(leaderboard(session, benchmark, version=version))


def sorted_by(board: Leaderboard, column: str) -> list[LeaderboardRow]:
    """The board's rows sorted by a column, highest first and missing values last; by rank for any other name."""
    by: dict[str, Callable[[LeaderboardRow], float | None]] = {
        "mean": lambda row: row.summary.mean_score,
        "success": lambda row: row.summary.success_rate,
    }

    def of(row: LeaderboardRow) -> float | None:
        measure_mean = row.measures.get(column)
        return by[column](row) if column in by else None if measure_mean is None else measure_mean.mean

    if column not in by and column not in board.measures:
        return board.rows
    return sorted(board.rows, key=lambda row: (of(row) is None, -(of(row) or 0.0)))
