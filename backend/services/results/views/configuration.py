"""Page of a configuration: what defines it, its prompts, its runs over all benchmarks, its trend."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.configurations import agent_configurations as repository
from backend.db.repositories.runs import runs_view
from backend.domain.statistics.intervals import Interval
from backend.services.configurations.configurations import get_configuration
from backend.services.configurations.definitions import own_prompts
from backend.services.configurations.views import ConfigurationView, configuration_view
from backend.services.results.rollups import summary_of
from backend.services.runs.views.run_rows import RunRow, run_rows

MOST_RUNS = 50
MOST_POINTS = 200


@dataclass(frozen=True)
class TrendPoint:
    """Mean score of one run; `tasks` have a score."""

    run_id: UUID
    title: str
    configuration: str
    at: datetime
    version: int
    mean: float
    interval: Interval | None
    tasks: int


@dataclass(frozen=True)
class BenchmarkTrend:
    """Runs on one benchmark, oldest first."""

    benchmark: str
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
        agent_trends: of all configurations of its agent; only of benchmarks where others than this one have runs.
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


def _trends(rows: Sequence[AnyRow]) -> list[BenchmarkTrend]:
    by_benchmark: dict[str, list[TrendPoint]] = defaultdict(list)
    for row in reversed(rows):
        summary = summary_of(row.Rollup)
        if summary.mean_score is not None:
            point = TrendPoint(
                run_id=row.Run.id,
                title=row.Run.name,
                configuration=row.configuration,
                at=row.Run.created_at,
                version=row.version,
                mean=summary.mean_score,
                interval=summary.mean_interval,
                tasks=summary.scored_tasks,
            )
            by_benchmark[row.benchmark].append(point)
    return [BenchmarkTrend(name, points) for name, points in sorted(by_benchmark.items())]
