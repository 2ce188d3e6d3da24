"""Leaderboards, from stored roll-ups only."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Benchmark, PassRollup, PublishedResult, Run, TaskSet
from backend.db.models.enums import FLOORS, Dimension
from backend.db.repositories.results import leaderboards as repository
from backend.db.repositories.results import pass_rollups as pass_repository
from backend.db.repositories.results import rollups as rollup_repository
from backend.db.session import SessionFactory
from backend.domain.model.measures import in_order, primary
from backend.domain.model.score import SCORE
from backend.services.benchmarks.benchmarks import get_benchmark, list_task_sets, version_of
from backend.services.lru_cache import LruCache
from backend.services.people import human_baselines
from backend.services.people.human_baselines import DomainRow, Means
from backend.services.results import board_ranking, common_tasks, measure_rollups, rollups
from backend.services.results.board_ranking import BoardTasks, ConditionsChoice, OutsideRules
from backend.services.results.board_rows import (
    NOTHING,
    BoardRow,
    lower_bound,
    pooled_summary,
    primary_mean,
    with_rates,
)
from backend.services.results.conditions import RunConditions, conditions_of
from backend.services.results.costs import PassCosts
from backend.services.runs.summary import RunSummary, describe

SHOWN = (Dimension.DOMAIN, Dimension.DIFFICULTY, Dimension.LEVEL, Dimension.CAPABILITY, Dimension.COMPLEXITY)
Cube = Mapping[str, Mapping[str, RunSummary]]


@dataclass(frozen=True)
class BenchmarkBoard:
    """A benchmark's leaderboard for one version of its tasks.

    Attributes:
        tasks: the tasks that ranked rows cover.
        rows: ranked ones first, by the primary measure, then references, then the others.
        conditions: those of the ranked rows; None without rows.
        choices: all conditions, for the reader to choose.
        common: number of tasks that all ranked rows share, if the board ranks on those only.
        primary: name of the measure that ranks: that of the tasks' scoring protocol, or `score`.
        newer: the benchmark's newest version, if this is an older one.
        with_runs: the newest version with runs, if this one has none.
        as_of: when the newest of its roll-ups was computed; None before the first.
        stale: an episode has changed since its roll-up was computed.
    """

    benchmark: Benchmark
    task_set: TaskSet
    tasks: BoardTasks
    rows: Sequence[BoardRow]
    reported: Sequence[PublishedResult]
    conditions: RunConditions | None = None
    choices: Sequence[ConditionsChoice] = ()
    common: int | None = None
    people: Sequence[DomainRow] = ()
    primary: str = SCORE
    newer: TaskSet | None = None
    with_runs: TaskSet | None = None
    as_of: datetime | None = None
    stale: bool = False

    @property
    def measures(self) -> list[str]:
        """All measures of any row, in column order."""
        return in_order([name for row in self.rows for name in row.means])

    @property
    def orders_differ(self) -> bool:
        """Whether the order changes when every lost episode counts as 0."""
        return any(row.standing is not None and row.standing.rank != row.lower_rank for row in self.rows)


@dataclass(frozen=True)
class BoardOptions:
    """A reader's options.

    Attributes:
        conditions: key of the conditions; None = those with most ranked rows.
        common: rank on the tasks that all rows share.
        configurations: rank these only; empty = all.
        imported: rank imported results among the measured ones.
        unknown: of these, also those whose step budget or screen is not known.
    """

    conditions: str | None = None
    common: bool = False
    configurations: Sequence[UUID] = ()
    imported: bool = False
    unknown: bool = False

    @property
    def outside(self) -> OutsideRules:
        return OutsideRules(self.imported, self.unknown)


@dataclass(frozen=True)
class _Group:
    """Runs of one configuration under equal conditions, the fullest one first."""

    conditions: RunConditions
    runs: list[UUID] = field(default_factory=list)


def leaderboard(
    session: Session,
    benchmark: str,
    *,
    version: int | None = None,
    dimensions: Sequence[str] = SHOWN,
    options: BoardOptions | None = None,
) -> BenchmarkBoard:
    """The board of a benchmark.

    Args:
        session: the transaction.
        benchmark: its name.
        version: of the task set; default: the newest one with runs, else the newest.
        dimensions: dimensions of the breakdown.
        options: what the reader chose.

    Raises:
        NotFound: there is no such benchmark, version, or run under these conditions.
    """
    options = options or BoardOptions()
    benchmark_row, task_set = get_benchmark(session, benchmark), board_version(session, benchmark, version)
    as_of, stale = repository.freshness(session, task_set.id)
    task_count, measure = repository.number_of_tasks(session, task_set.id), primary(task_set.protocols)
    people_trials = human_baselines.trials(session, task_set.id)
    rows = _rows(session, task_set.id, task_count, measure, {Dimension.ALL, *dimensions})
    rows = _with_people(rows, human_baselines.by_run(people_trials))
    choices = board_ranking.choices(rows, task_count, measure, options.outside)
    conditions = board_ranking.chosen_conditions(choices, options.conditions)
    alike = [row for row in rows if conditions is not None and row.conditions.key == conditions.key]
    tasks, common = board_ranking.board_tasks(alike, task_count), None
    if conditions is not None and options.common:
        rows, common = common_tasks.rank_on_common_tasks(
            session, rows, conditions, measure, options.configurations, outside=options.outside
        )
    elif conditions is not None:
        reasons = partial(board_ranking.reasons_of, outside=options.outside)
        rows = [replace(row, reasons=reasons(row, conditions, tasks, measure)) for row in rows]
    return BenchmarkBoard(
        benchmark_row,
        task_set,
        tasks,
        board_ranking.ranked(rows),
        repository.published_results(session, benchmark_row.id),
        conditions=conditions,
        choices=choices,
        common=common,
        people=human_baselines.by_domain(people_trials),
        primary=measure,
        newer=_newer(session, benchmark, task_set),
        with_runs=None if rows else repository.newest_with_runs(session, benchmark_row.id),
        as_of=as_of,
        stale=stale,
    )


def board_state(factory: SessionFactory) -> str:
    """Names what boards show: it changes when people change something, or roll-ups, and not with the steps of episodes.

    Raises a driver's error.
    """
    with factory.kw["bind"].connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        return str(connection.execute(repository.BOARD_STATE).one())


def _with_people(rows: Sequence[BoardRow], people: Mapping[UUID, Means]) -> list[BoardRow]:
    """Adds people's results to human rows."""
    return [replace(row, people=people.get(row.run.id)) for row in rows]


def board_version(session: Session, benchmark: str, version: int | None) -> TaskSet:
    """The task set of a board: of this version, by default the newest with runs, else the newest. Raises NotFound."""
    newest = version_of(session, benchmark, version)
    with_runs = repository.newest_with_runs(session, newest.benchmark_id) if version is None else None
    return with_runs or newest


def other_version_with_runs(session: Session, benchmark: str, version: int) -> int | None:
    """The newest version with runs on its board, if it is another one. Raises NotFound."""
    with_runs = repository.newest_with_runs(session, get_benchmark(session, benchmark).id)
    return with_runs.version if with_runs and with_runs.version != version else None


def _newer(session: Session, benchmark: str, task_set: TaskSet) -> TaskSet | None:
    newest = list_task_sets(session, benchmark)[0]
    return newest if newest.version > task_set.version else None


def _rows(
    session: Session, task_set_id: UUID, task_count: int, measure: str, dimensions: Collection[str]
) -> list[BoardRow]:
    """One row per configuration and conditions, not ranked yet."""
    groups: dict[tuple[UUID, str], _Group] = {}
    for run in repository.runs(session, task_set_id):
        conditions = conditions_of(run.config)
        group = groups.setdefault((run.agent_configuration_id, conditions.key), _Group(conditions))
        group.runs.append(run.id)
    passes = {
        (row.agent_configuration_id, row.conditions_key): row
        for row in pass_repository.of_task_set(session, task_set_id)
    }
    fullest = [group.runs[0] for group in groups.values()]
    loaded = repository.with_configurations(session, fullest)
    cubes = _cubes(session, [run for run, _ in loaded.values()], dimensions)
    rows = []
    for key, group in groups.items():
        first, pooled = group.runs[0], passes.get(key)
        row = BoardRow(
            run=loaded[first][0],
            agent=loaded[first][1],
            others=sorted(group.runs[1:], reverse=True),
            reference=_reference(loaded[first][1]),
            summary=pooled_summary(pooled) if pooled else _whole(cubes[first][0]),
            conditions=group.conditions,
            passes=pooled,
            costs=PassCosts.model_validate(pooled.costs) if pooled and pooled.costs else None,
            by=cubes[first][0],
            measures=cubes[first][1],
        )
        rows.append(_with_rates(row, task_count, measure, dimensions))
    return rows


def _with_rates(row: BoardRow, task_count: int, measure: str, dimensions: Collection[str]) -> BoardRow:
    """The row with its breakdown over all its runs, and the measure by which the board ranks."""
    if row.passes is not None and row.passes.cells:
        cube, measures = _pooled_cubes(row.passes, dimensions)
        row = replace(row, by=cube, measures=measures)
    rates = row.passes.rates.get("primary") if row.passes is not None else None
    value = primary_mean(row.summary, row.means, measure)
    missing = task_count - row.summary.scored_tasks
    return replace(row, primary=value, lower=lower_bound(row.summary, value, measure, rates), missing_tasks=missing)


def _reference(agent: AgentConfiguration) -> str:
    return "human" if agent.human else "privileged" if agent.privileged else "floor" if agent.name in FLOORS else ""


def _whole(cube: Cube) -> RunSummary:
    return cube.get(Dimension.ALL, {}).get("") or describe(NOTHING, None, None, "")


_CUBES: LruCache[tuple[UUID, datetime, frozenset[str]], tuple[Cube, measure_rollups.Cube]] = LruCache(500)
"""Stored cells of runs, by the time as of which they were computed: those never change."""


def _cubes(
    session: Session, runs: Sequence[Run], dimensions: Collection[str]
) -> dict[UUID, tuple[Cube, measure_rollups.Cube]]:
    """The cells of each run, and their measures."""
    keys = {run.id: (run.id, run.rollup_as_of, frozenset(dimensions)) for run in runs if run.rollup_as_of is not None}
    cubes = {run_id: cube for run_id, key in keys.items() if (cube := _CUBES.get(key)) is not None}
    others = [run.id for run in runs if run.id not in cubes]
    if others:
        cells: dict[UUID, dict[str, dict[str, RunSummary]]] = {}
        for row in rollup_repository.of_runs(session, others, dimensions):
            cells.setdefault(row.run_id, {}).setdefault(row.dimension, {})[row.key] = rollups.summary_of(row)
        means = measure_rollups.of_runs(session, others, dimensions)
        cubes |= {run_id: (cells.get(run_id, {}), means.get(run_id, {})) for run_id in others}
    for run_id in set(others) & keys.keys():
        _CUBES.put(keys[run_id], cubes[run_id])
    return cubes


def _pooled_cubes(passes: PassRollup, dimensions: Collection[str]) -> tuple[Cube, measure_rollups.Cube]:
    """Cells of all passes together, in which a task counts once."""
    cube: dict[str, dict[str, RunSummary]] = {}
    for cell in (passes.summary, *passes.cells):
        if cell and cell["dimension"] in dimensions:
            summary = rollups.summary_of(SimpleNamespace(**cell))
            cube.setdefault(cell["dimension"], {})[cell["key"]] = with_rates(summary, cell.get("rates"))
    means = [row for row in (*passes.measures, *passes.means) if row["dimension"] in dimensions]
    return cube, measure_rollups.cube_of(SimpleNamespace(**row) for row in means)
