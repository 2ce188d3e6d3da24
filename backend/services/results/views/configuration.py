"""Page of a configuration: what defines it, its prompts, its runs over all benchmarks, its trend."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.configurations import agent_configurations as repository
from backend.db.repositories.runs import runs_view
from backend.domain.statistics.intervals import Interval
from backend.services.configurations.configurations import get_configuration
from backend.services.configurations.definitions import own_prompts
from backend.services.configurations.views import ConfigurationView, configuration_view
from backend.services.results.conditions import RunConditions, conditions_of
from backend.services.results.rollups import summary_of
from backend.services.runs.views.run_rows import RunRow, run_rows

MOST_RUNS = 50
MOST_POINTS = 200
LEAST_COVERAGE = 0.95
"""Share of the tasks with a score from which on a run counts as a run of all tasks."""


@dataclass(frozen=True)
class TrendPoint:
    """Mean score of one run; `tasks` of `all_tasks` have a score."""

    run_id: UUID
    title: str
    configuration: str
    at: datetime
    mean: float
    interval: Interval | None
    tasks: int
    all_tasks: int

    @property
    def partial(self) -> bool:
        """Whether too many tasks have no score to read it beside others."""
        return self.tasks < LEAST_COVERAGE * self.all_tasks


@dataclass(frozen=True)
class BenchmarkTrend:
    """Alike runs, oldest first: on one version of a benchmark's tasks, under equal conditions."""

    benchmark: str
    version: int
    conditions: RunConditions
    points: Sequence[TrendPoint]

    @property
    def configurations(self) -> int:
        """Number of configurations."""
        return len({point.configuration for point in self.points})


@dataclass(frozen=True)
class PromptText:
    """A prompt; `text` is None where this release has another one than the runs used."""

    name: str
    sha256: str
    text: str | None


@dataclass(frozen=True)
class ConfigurationPage:
    """Everything on a configuration's page.

    Attributes:
        trends: those with most runs first.
        agent_trends: of all configurations of its agent; only those in which others than this one have runs.
        more: it has further runs.
    """

    configuration: ConfigurationView
    prompts: Sequence[PromptText]
    trends: Sequence[BenchmarkTrend]
    agent_trends: Sequence[BenchmarkTrend]
    runs: Sequence[RunRow]
    more: bool


def configuration_page(session: Session, configuration_id: UUID) -> ConfigurationPage:
    """One configuration. Raises NotFound."""
    row = get_configuration(session, configuration_id)
    runs = runs_view.runs(session, {"configuration": str(row.id)}, None, MOST_RUNS)
    of_agent = repository.results_of_agent(session, row.project_id, row.name, MOST_POINTS)
    return ConfigurationPage(
        configuration=configuration_view(session, row),
        prompts=[PromptText(name, sha256, text) for name, sha256, text in own_prompts(row.definition)],
        trends=_trends(repository.results(session, row.id, MOST_POINTS)),
        agent_trends=[trend for trend in _trends(of_agent) if trend.configurations > 1],
        runs=run_rows(session, runs[:MOST_RUNS]),
        more=len(runs) > MOST_RUNS,
    )


TREND_HEAD = ("benchmark", "version", "conditions", "configuration", "run", "name", "submitted_at", "mean_score", "low",
              "high", "scored_tasks", "tasks", "partial")  # fmt: skip


def trend_rows(session: Session, configuration_id: UUID, *, of_agent: bool = False) -> Iterator[list[Any]]:
    """The points of a configuration's trends, or of those of all its agent's; as `TREND_HEAD`. Raises NotFound."""
    row = get_configuration(session, configuration_id)
    runs = (
        repository.results_of_agent(session, row.project_id, row.name, MOST_POINTS)
        if of_agent
        else repository.results(session, row.id, MOST_POINTS)
    )
    for trend in _trends(runs):
        of_trend = (trend.benchmark, trend.version, trend.conditions.text)
        for point in trend.points:
            ends = point.interval or (None, None)
            of_run = (point.configuration, str(point.run_id), point.title, point.at.isoformat(), point.mean, *ends)
            yield [*of_trend, *of_run, point.tasks, point.all_tasks, point.partial]


def _trends(rows: Sequence[AnyRow]) -> list[BenchmarkTrend]:
    trends: dict[tuple[str, int, str], BenchmarkTrend] = {}
    points: dict[tuple[str, int, str], list[TrendPoint]] = defaultdict(list)
    for row in reversed(rows):
        summary = summary_of(row.Rollup)
        if summary.mean_score is None:
            continue
        conditions = conditions_of(row.Run.config)
        key = (row.benchmark, row.version, conditions.key)
        trends.setdefault(key, BenchmarkTrend(row.benchmark, row.version, conditions, points[key]))
        points[key].append(
            TrendPoint(
                run_id=row.Run.id,
                title=row.Run.name,
                configuration=row.configuration,
                at=row.Run.created_at,
                mean=summary.mean_score,
                interval=summary.mean_interval,
                tasks=summary.scored_tasks,
                all_tasks=row.all_tasks,
            )
        )
    return sorted(trends.values(), key=lambda trend: (trend.benchmark, -len(trend.points), -trend.version))
