"""View of a leaderboard, and its breakdown by a dimension for charts and their tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import PassRollup
from backend.db.models.enums import Dimension
from backend.db.repositories.benchmarks import benchmarks_view
from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.task import DIFFICULTIES, Difficulty
from backend.domain.statistics.intervals import Interval
from backend.services.benchmarks.views.benchmark import TaskSetRef, reported_result
from backend.services.configurations.configuration_ref import configuration_ref
from backend.services.results.board_ranking import ConditionsChoice
from backend.services.results.board_rows import BoardRow
from backend.services.results.costs import StepRatios
from backend.services.results.leaderboards import BenchmarkBoard, BoardOptions, leaderboard
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.views.board_columns import number_columns
from backend.services.results.views.leaderboard_models import (
    ConditionsChoiceView,
    ConditionsView,
    Leaderboard,
    LeaderboardRow,
    NotRankedView,
    PassesView,
    PassRate,
    PassRun,
    definition_of,
)
from backend.services.results.views.row_costs import NodePriceList, RowCosts, row_costs
from backend.services.runs.summary import RunSummary

CUTS = ("domain", "difficulty", "level", "capability", "complexity")
RATES = {"mean": "mean score", "success": "success rate"}
"""Values of a chart besides measures."""
_ORDERS: Mapping[str, Sequence[str]] = {
    "difficulty": DIFFICULTIES,
    "capability": list(CAPABILITIES),
    "complexity": [f"{name}/{level}" for name in COMPLEXITIES for level in Difficulty],
}


def leaderboard_view(board: BenchmarkBoard, prices: NodePriceList) -> Leaderboard:
    """The view of a leaderboard. `prices`: of nodes."""
    complete = board.common is None
    return Leaderboard(
        benchmark=board.benchmark.name,
        title=board.benchmark.title,
        kind=board.benchmark.kind,
        task_set=TaskSetRef.model_validate(board.task_set),
        tasks=board.tasks.number,
        not_runnable=board.tasks.not_runnable,
        common_tasks=board.common,
        conditions=board.conditions and ConditionsView.model_validate(board.conditions),
        choices=[_choice(choice) for choice in board.choices],
        orders_differ=board.orders_differ,
        newer=board.newer and TaskSetRef.model_validate(board.newer),
        with_runs=board.with_runs and TaskSetRef.model_validate(board.with_runs),
        as_of=board.as_of,
        stale=board.stale,
        rows=[_row(row, row_costs(row, prices, whole=complete), whole=complete) for row in board.rows],
        primary=board.primary,
        measures={name: definition_of(name) for name in board.measures},
        published_results=[reported_result(row) for row in board.reported],
        people=list(board.people),
    )


def _choice(choice: ConditionsChoice) -> ConditionsChoiceView:
    conditions = choice.conditions
    return ConditionsChoiceView(key=conditions.key, text=conditions.text, rows=choice.rows, ranked=choice.ranked)


def _passes(row: PassRollup, *, whole: bool) -> PassesView:
    """`whole`: the board ranks on all tasks, which its pass rates are of."""
    return PassesView(
        number=row.passes,
        tasks=row.attempted_tasks,
        lost_share=row.lost_share,
        rates=[_pass_rate(rate) for rate in row.pass_rates] if whole else [],
        runs=[
            PassRun(run=run["run"], tasks=run["tasks"], mean_score=run["mean"], success_rate=run["success"])
            for run in row.runs
        ],
        ended_desktops=row.ended_desktops,
        flagged=row.flagged,
    )


def _pass_rate(rate: Mapping[str, Any]) -> PassRate:
    (at, *at_ends), (hat, *hat_ends) = rate["at"], rate["hat"]
    return PassRate(
        k=rate["k"],
        tasks=rate["tasks"],
        at=at,
        at_interval=Interval(*at_ends),
        hat=hat,
        hat_interval=Interval(*hat_ends),
    )


def _row(row: BoardRow, costs: RowCosts, *, whole: bool) -> LeaderboardRow:
    standing = row.standing
    return LeaderboardRow(
        rank=standing and standing.rank,
        tie_group=standing and standing.group,
        best_rank=standing and standing.best,
        worst_rank=standing and standing.worst,
        agent=row.agent.name,
        configuration=configuration_ref(row.agent),
        params=row.agent.params,
        reference=row.reference,
        origin=row.run.origin,
        variant=row.run.config.get("variant"),
        reasons=[NotRankedView.model_validate(reason) for reason in row.reasons],
        conditions=ConditionsView.model_validate(row.conditions),
        passes=row.passes and _passes(row.passes, whole=whole),
        lower_bound=row.lower,
        lower_rank=row.lower_rank,
        runs=row.runs,
        created_at=row.run.created_at,
        primary=row.primary,
        summary=row.summary,
        tasks=row.summary.scored_tasks,
        missing_tasks=row.missing_tasks,
        by_domain=row.by.get(Dimension.DOMAIN, {}),
        by_difficulty=row.by.get(Dimension.DIFFICULTY, {}),
        by_level=row.by.get(Dimension.LEVEL, {}),
        by_capability=row.by.get(Dimension.CAPABILITY, {}),
        by_complexity=row.by.get(Dimension.COMPLEXITY, {}),
        measures=row.means,
        measures_by={dimension: cells for dimension, cells in row.measures.items() if dimension != Dimension.ALL},
        people=row.people,
        steps=row.summary.steps / row.summary.counts.scored if row.summary.counts.scored else None,
        agent_seconds=costs.agent_seconds,
        costs=costs,
        step_ratios=row.costs.step_ratios if row.costs else StepRatios(),
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
    """One row in a chart: its runs, its configuration's name, what its legend says, and its cell per key."""

    runs: Sequence[UUID]
    configuration: str
    legend: str
    agent: str
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
        LeaderboardSeries(
            row.runs,
            row.configuration.name,
            row.legend,
            row.agent,
            row.reference,
            [_cell(row, dimension, key) for key in keys],
        )
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


def board_of(
    session: Session,
    benchmark: str,
    version: int | None,
    options: BoardOptions | None = None,
    prices: NodePriceList = NodePriceList(),  # noqa: B008 - it is immutable
) -> Leaderboard:
    """The board; `prices`: of nodes. Raises NotFound."""
    return leaderboard_view(leaderboard(session, benchmark, version=version, options=options), prices)


_DESCENDING: Mapping[str, Callable[[LeaderboardRow], float | None]] = {
    "mean": lambda row: row.summary.mean_score,
    "success": lambda row: row.summary.success_rate,
}


def sortable(board: Leaderboard) -> set[str]:
    """Names of the columns that sort."""
    return {*_DESCENDING, *board.measures, *(column.name for column in number_columns(board.rows))}


def sorted_by(board: Leaderboard, column: str) -> list[LeaderboardRow]:
    """The board's rows sorted by a column, the best first and missing values last; by rank for any other name."""
    numbers = {column.name: column for column in number_columns(board.rows)}
    if column in numbers:
        return _sort_rows(board.rows, numbers[column].value, 1 if numbers[column].ascending else -1)
    if column in _DESCENDING:
        return _sort_rows(board.rows, _DESCENDING[column], -1)
    if column in board.measures:
        return _sort_rows(board.rows, lambda row: row.measures[column].mean if column in row.measures else None, -1)
    return board.rows


def _sort_rows(
    rows: Sequence[LeaderboardRow], value: Callable[[LeaderboardRow], float | None], sign: int
) -> list[LeaderboardRow]:
    return sorted(rows, key=lambda row: (value(row) is None, sign * (value(row) or 0.0)))


ROWS_HEAD = (
    "rank", "best_rank", "worst_rank", "tie_group", "configuration", "agent", "run", "origin", "reference", "reasons",
    "conditions", "primary", "low", "high", "success_rate", "success_low", "success_high", "mean_score", "lower_bound",
    "passes", "episodes", "scored", "lost", "missing_tasks", "steps", "agent_seconds", "created_at",
)  # fmt: skip
"""Columns of a board's table; `reasons` are codes."""


def table_rows(board: Leaderboard) -> list[list[Any]]:
    """The values of ROWS_HEAD of each row."""
    return [_table_row(row) for row in board.rows]


def _table_row(row: LeaderboardRow) -> list[Any]:
    summary, primary = row.summary, row.primary
    value = [primary.mean, *primary.interval] if primary else [None] * 3
    return [
        *(row.rank, row.best_rank, row.worst_rank, row.tie_group, row.configuration.name, row.agent, row.runs[0]),
        *(row.origin.value, row.reference, " ".join(reason.code for reason in row.reasons), row.conditions.text),
        *(*value, summary.success_rate, *(summary.success_interval or (None, None)), summary.mean_score),
        *(row.lower_bound, row.passes.number if row.passes else None, summary.episodes),
        *(summary.counts.scored, summary.counts.lost, row.missing_tasks, row.steps, row.agent_seconds, row.created_at),
    ]
