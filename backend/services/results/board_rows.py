"""Rows of a leaderboard: one configuration under one set of conditions, all its passes pooled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from backend.db.models import AgentConfiguration, PassRollup, Run
from backend.db.models.enums import Dimension, Origin
from backend.domain.model.score import SCORE
from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.ranks import Standing
from backend.services.people.human_baselines import Means
from backend.services.results import measure_rollups
from backend.services.results.conditions import RunConditions
from backend.services.results.costs import PassCosts
from backend.services.results.measure_rollups import MeasureMean
from backend.services.results.rollups import summary_of
from backend.services.runs.summary import EpisodeCounts, RunSummary, RunTotals, describe

NOTHING = RunTotals(
    counts=EpisodeCounts(), lost={}, tasks=0, scored_tasks=0, solved=0, score_sum=0.0, score_sq_sum=0.0, steps=0
)


@dataclass(frozen=True)
class NotRanked:
    """Why a row has no rank. `code` is stable, `text` is for people: `7 of 61 tasks`."""

    code: str
    text: str


@dataclass(frozen=True)
class BoardRow:
    """A configuration under one set of conditions, with everything that it scored.

    Attributes:
        run: representative run: the one that covers most tasks, then the newest, regardless of results.
        others: its other runs, newest first.
        reference: `floor`, `privileged` (it sees the task), `human` or empty. References have no rank.
        missing_tasks: tasks of the task set without a scored episode.
        conditions: what else decides its score.
        passes: what all its runs scored; None until a worker has computed it.
        costs: what its scored episodes cost; None until then.
        by: summaries by dimension, then by key.
        measures: means of measures by dimension, then by key; over all tasks under the key "" of `all`.
        primary: mean of the measure by which the board ranks; None without a value.
        lower: the same with every lost episode as 0.
        standing: by `primary`, among the ranked rows; None if it is not ranked.
        lower_rank: the same by `lower`.
        reasons: why it is not ranked; empty if it is.
        people: for a human row: means of steps, time and rating.
    """

    run: Run
    agent: AgentConfiguration
    others: Sequence[UUID]
    reference: str
    summary: RunSummary
    conditions: RunConditions
    missing_tasks: int = 0
    passes: PassRollup | None = None
    costs: PassCosts | None = None
    by: Mapping[str, Mapping[str, RunSummary]] = field(default_factory=dict)
    measures: measure_rollups.Cube = field(default_factory=dict)
    primary: MeasureMean | None = None
    lower: float | None = None
    standing: Standing | None = None
    lower_rank: int | None = None
    reasons: Sequence[NotRanked] = ()
    people: Means | None = None

    @property
    def imported(self) -> bool:
        """Whether another tool measured it."""
        return self.run.origin == Origin.OUTSIDE

    @property
    def means(self) -> measure_rollups.Means:
        """Means of measures over all tasks."""
        return self.measures.get(Dimension.ALL, {}).get("", {})

    @property
    def runs(self) -> list[UUID]:
        """All its runs, the representative one first."""
        return [self.run.id, *self.others]

    @property
    def attempted_tasks(self) -> int:
        """Tasks with a scored or a lost episode."""
        return self.passes.attempted_tasks if self.passes else 0


def pooled_summary(passes: PassRollup) -> RunSummary:
    """Counts over all passes; rates are means over tasks of the mean over passes."""
    if not passes.summary:
        return describe(NOTHING, None, None, "")
    return with_rates(summary_of(SimpleNamespace(**passes.summary)), passes.rates)


def with_rates(summary: RunSummary, rates: Mapping[str, Any] | None) -> RunSummary:
    """A summary with the rates of `TaskColumns.rates`; as it is if a former release stored none."""
    if rates is None or rates["mean"] is None or rates["success"] is None:
        return summary
    mean, *mean_ends = rates["mean"]
    success, *success_ends = rates["success"]
    return summary.model_copy(
        update={
            "mean_score": mean,
            "mean_interval": Interval(*mean_ends),
            "success_rate": success,
            "success_interval": Interval(*success_ends),
            "lower_bound_mean": rates["lower_mean"],
            "lower_bound_success": rates["lower_success"],
        }
    )


def primary_mean(summary: RunSummary, means: measure_rollups.Means, measure: str) -> MeasureMean | None:
    """The mean of a measure over a row's tasks; the score is one."""
    if measure != SCORE or summary.mean_score is None:
        return means.get(measure)
    return MeasureMean(
        mean=summary.mean_score,
        interval=summary.mean_interval or Interval(0, 1),
        n=summary.counts.scored,
        tasks=summary.scored_tasks,
        undefined_tasks=0,
    )


def lower_bound(
    summary: RunSummary, primary: MeasureMean | None, measure: str, rates: Mapping[str, Any] | None = None
) -> float | None:
    """The primary measure with every lost episode as 0.

    Args:
        summary: of the row.
        primary: its mean of the measure.
        measure: its name.
        rates: of `pass_rollups.primary_rates`; rows that were computed by an older release have none.
    """
    if measure == SCORE or primary is None:
        return summary.lower_bound_mean
    if rates and rates["measure"] == measure:
        lower: float = rates["lower"]
        return lower
    return primary.mean * primary.n / (primary.n + summary.counts.lost)
