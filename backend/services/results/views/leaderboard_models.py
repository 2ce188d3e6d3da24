"""Read models of a leaderboard."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import Origin
from backend.domain.model.measures import info
from backend.domain.model.score import SCORE
from backend.domain.statistics.intervals import Interval
from backend.services.benchmarks.views.benchmark import PublishedResultView, TaskSetRef
from backend.services.configurations.configuration_ref import ConfigurationRef
from backend.services.people.human_baselines import DomainRow, Means
from backend.services.read_model import ReadModel
from backend.services.results.costs import StepRatios
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.views.row_costs import RowCosts
from backend.services.runs.summary import RunSummary


class MeasureDefinition(ReadModel):
    """Definition of a measure."""

    title: str = Field(examples=["CR"])
    text: str


def definition_of(name: str) -> MeasureDefinition:
    """Title and text of a measure."""
    return MeasureDefinition(title=info(name).title, text=info(name).text)


class NotRankedView(ReadModel):
    """Why a row has no rank."""

    code: str = Field(
        description="`reference`, `outside_origin`, `unknown_conditions`, `conditions`, `partial`, `lost`, `no_value`,"
        " `not_computed` or `not_chosen`.",
        examples=["partial"],
    )
    text: str = Field(examples=["7 of 61 tasks"])


class ConditionsView(ReadModel):
    """Conditions besides the configuration that affect a score."""

    key: str = Field(description="Equal for rows that are alike; `conditions` of a board's address.")
    text: str = Field(examples=["15 steps, 30 min, local, 1920x1080"])
    unknown_text: str = Field(
        default="",
        description="Of imported results: what is unknown about them.",
        examples=["unknown: other limits, desktop"],
    )


class ConditionsChoiceView(ConditionsView):
    """Conditions that the board can be shown for."""

    rows: int = Field(description="Number of agents under these conditions.")
    ranked: int = Field(description="Of them, those that are alike, complete and lost at most 5 %.")


class PassRate(ReadModel):
    """Unbiased estimates over the tasks with at least k passes."""

    k: int
    tasks: int
    at: float = Field(description="pass@k: at least one of k passes solves the task.")
    at_interval: Interval
    hat: float = Field(description="pass^k: each of k passes solves it.")
    hat_interval: Interval


class PassRun(ReadModel):
    """One run of a row."""

    run: UUID
    tasks: int = Field(description="Tasks with a scored or a lost episode.")
    mean_score: float | None
    success_rate: float | None


class PassesView(ReadModel):
    """All passes of a row."""

    number: int
    tasks: int = Field(description="Tasks with a scored or a lost episode in any of its runs.")
    lost_share: float = Field(description="Lost episodes that no other run made up for, over those and scored ones.")
    rates: list[PassRate] = Field(description="Over all tasks; empty on a board of common tasks.")
    runs: list[PassRun] = Field(description="Oldest first.")
    ended_desktops: int = Field(description="Episodes whose desktop was ended from inside.")
    flagged: int = Field(description="Episodes with a loss that nothing explains.")

    @property
    def spread(self) -> tuple[float, float] | None:
        """Lowest and highest mean score of its complete runs; None for fewer than two."""
        means = [run.mean_score for run in self.runs if run.tasks == self.tasks and run.mean_score is not None]
        return (min(means), max(means)) if len(means) > 1 else None


class LeaderboardRow(ReadModel):
    """One agent configuration under one set of conditions. `rank` is null where `reasons` says why."""

    rank: int | None = None
    tie_group: int | None = Field(default=None, description="Rows of one group cannot be distinguished statistically.")
    best_rank: int | None = Field(default=None, description="The ranks that are compatible with the intervals.")
    worst_rank: int | None = None
    agent: str
    configuration: ConfigurationRef
    params: dict[str, Any] = Field(default={})
    reasons: list[NotRankedView] = Field(default=[], description="Why it is not ranked; empty if it is.")
    conditions: ConditionsView
    passes: PassesView | None = Field(default=None, description="Null until a worker has computed it.")
    lower_bound: float | None = Field(default=None, description="`primary` if every lost episode counted as 0.")
    lower_rank: int | None = Field(default=None, description="The rank by `lower_bound`.")
    reference: str = Field(default="", description="`floor`, `privileged` (it sees the task), `human` or empty.")
    origin: Origin = Field(default=Origin.MEASURED, description="`outside`: imported, not measured here.")
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
    steps: float | None = Field(default=None, description="Mean over its scored episodes.")
    agent_seconds: float | None = Field(default=None, description="The agent's own time, mean over scored episodes.")
    costs: RowCosts = RowCosts()
    step_ratios: StepRatios = Field(default=StepRatios(), description="Of solved episodes: over those of a reference.")

    @property
    def legend(self) -> str:
        """Its name in legends: with the reason if it is not ranked, or that it is imported."""
        name = self.configuration.name
        if self.reasons and not self.reference:
            return f"{name} ({self.reasons[0].text})"
        return f"{name} (imported)" if self.origin == Origin.OUTSIDE else name

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
    tasks: int = Field(description="Tasks that ranked rows cover.")
    not_runnable: int = Field(default=0, description="Further tasks of the set, which no run could cover.")
    common_tasks: int | None = Field(default=None, description="Tasks that all rows share, if ranked on those only.")
    conditions: ConditionsView | None = Field(default=None, description="Those of ranked rows; null without rows.")
    choices: list[ConditionsChoiceView] = Field(default=[])
    orders_differ: bool = Field(default=False, description="The order by `lower_bound` is another one.")
    newer: TaskSetRef | None = Field(default=None, description="The newest version, if this is an older one.")
    with_runs: TaskSetRef | None = Field(
        default=None, description="The newest version with runs, if this one has none, for example after an import."
    )
    as_of: datetime | None = Field(default=None, description="Time of the newest figures.")
    stale: bool = Field(default=False, description="Episodes have changed since; workers compute it again.")
    rows: list[LeaderboardRow] = Field(default=[])
    primary: str = Field(
        default=SCORE, description="Ranking measure: that of the tasks' scoring protocol, such as `CR`, or `score`."
    )
    measures: dict[str, MeasureDefinition] = Field(default={}, description="Definitions of the rows' measures.")
    published_results: list[PublishedResultView] = Field(
        default=[], description="What papers report; no part of the ranking."
    )
    people: list[DomainRow] = Field(default=[], description="What people needed, by domain.")

    @property
    def primary_definition(self) -> MeasureDefinition:
        """Definition of the measure that ranks."""
        return definition_of(self.primary)
