"""Summary of a run or a part of it: rates with intervals, full denominators and lower bounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.repositories.results import rollups as repository
from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model.episode import Outcome
from backend.domain.statistics.intervals import LEVEL, Interval, TaskCluster, cluster_mean, wilson
from backend.services.read_model import ReadModel

WILSON = "Wilson score interval"
EFFECTIVE = "Wilson score interval by the effective number of trials, tasks as clusters"


class EpisodeCounts(ReadModel):
    """Number of episodes by state; the nine add up to all.

    `human_assisted`: scored with a person's help, so not counted. `handed_in`: submissions judged by people, so without
    a score. `quarantined`: with a result that does not count, because the task is in quarantine.
    """

    scored: int = 0
    lost: int = 0
    cancelled: int = 0
    not_runnable: int = 0
    waiting: int = 0
    running: int = 0
    human_assisted: int = 0
    handed_in: int = 0
    quarantined: int = 0


class RateInterval(ReadModel):
    """Intervals of both rates and their method."""

    level: float = Field(examples=[0.95])
    success_rate: Interval | None
    mean_score: Interval | None
    text: str = Field(examples=["95 %: Wilson score interval"])


class RunSummary(ReadModel):
    """Summary of a run or a part of it. Rates are over scored episodes; lost ones are always shown.

    `lower_bound_*` count every lost episode as 0.
    """

    episodes: int
    tasks: int = Field(description="Distinct tasks among the episodes.")
    scored_tasks: int = Field(description="Of them, those with a scored episode.")
    counts: EpisodeCounts
    lost: Mapping[str, int] = Field(description="Lost episodes by failure class.", examples=[{"guest": 2}])
    solved: int
    score_sum: float
    success_rate: float | None = Field(examples=[0.75])
    success_interval: Interval | None = Field(examples=[[0.55, 0.88]])
    mean_score: float | None = Field(examples=[0.79])
    mean_interval: Interval | None = Field(examples=[[0.62, 0.93]])
    lower_bound_success: float | None = Field(examples=[0.69])
    lower_bound_mean: float | None = Field(examples=[0.72])
    success_method: str = Field(description="How `success_interval` was computed.", examples=[WILSON])
    steps: int = Field(description="Of scored episodes.")
    level: float = LEVEL
    as_of: datetime | None = Field(default=None, description="The moment it is of, for a large run that goes on.")

    @computed_field(examples=[{"scored": 22, "lost": 2}])  # type: ignore[prop-decorator]
    @property
    def outcomes(self) -> dict[str, int]:
        """Ended episodes by outcome."""
        return {outcome.value: getattr(self.counts, outcome.value) for outcome in Outcome}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def interval(self) -> RateInterval:
        """Both intervals with their method."""
        words = f"{self.level:.0%} level; success rate: {self.success_method or 'none'}; mean score: {EFFECTIVE}"
        return RateInterval(
            level=self.level, success_rate=self.success_interval, mean_score=self.mean_interval, text=words
        )

    @computed_field(examples=["22 scored of 24 episodes; 2 lost (guest 2)"])  # type: ignore[prop-decorator]
    @property
    def counts_text(self) -> str:
        """The full denominator, as text."""
        return counts_text(self.episodes, self.counts, self.lost)


@dataclass(frozen=True)
class RunTotals:
    """Sums over tasks, from which every rate is computed."""

    counts: EpisodeCounts
    lost: Mapping[str, int]
    tasks: int
    scored_tasks: int
    solved: int
    score_sum: float
    score_sq_sum: float
    steps: int

    @property
    def episodes(self) -> int:
        c = self.counts
        with_result = c.scored + c.lost + c.human_assisted + c.handed_in + c.quarantined
        return with_result + c.cancelled + c.not_runnable + c.waiting + c.running


def run_summary(session: Session, run_id: UUID) -> RunSummary:
    """The run's summary, computed from its episodes."""
    return summarise(repository.task_totals(session, run_id))


def summarise(tasks: Iterable[TaskTotals]) -> RunSummary:
    """From per-task totals. Wilson's interval if no task counts twice, else that of the effective number of trials."""
    rows = list(tasks)
    success, method = success_interval(rows)
    return describe(added(rows), success, mean_interval(rows), method)


def added(rows: Iterable[TaskTotals]) -> RunTotals:
    rows = list(rows)
    lost: dict[str, int] = {}
    for row in rows:
        for name, number in row.lost.items():
            lost[name] = lost.get(name, 0) + number
    return RunTotals(
        counts=EpisodeCounts(
            scored=sum(row.scored for row in rows),
            lost=sum(lost.values()),
            cancelled=sum(row.cancelled for row in rows),
            not_runnable=sum(row.not_runnable for row in rows),
            waiting=sum(row.waiting for row in rows),
            running=sum(row.running for row in rows),
            human_assisted=sum(row.human_assisted for row in rows),
            handed_in=sum(row.handed_in for row in rows),
            quarantined=sum(row.quarantined for row in rows),
        ),
        lost=dict(sorted(lost.items())),
        tasks=len(rows),
        scored_tasks=sum(row.scored > 0 for row in rows),
        solved=sum(row.solved for row in rows),
        score_sum=sum(row.score_sum for row in rows),
        score_sq_sum=sum(row.score_sq_sum for row in rows),
        steps=sum(row.steps for row in rows),
    )


def success_interval(rows: Iterable[TaskTotals]) -> tuple[Interval | None, str]:
    """Interval of the success rate and its method."""
    rows = list(rows)
    if all(row.scored <= 1 for row in rows):
        return wilson(sum(row.solved for row in rows), sum(row.scored for row in rows)), WILSON
    return cluster_mean([TaskCluster(row.scored, float(row.solved)) for row in rows]), EFFECTIVE


def mean_interval(rows: Iterable[TaskTotals]) -> Interval | None:
    """The interval of the mean score."""
    return cluster_mean([TaskCluster(row.scored, row.score_sum) for row in rows])


def describe(totals: RunTotals, success: Interval | None, mean: Interval | None, method: str) -> RunSummary:
    """Rates, bounds and texts from sums and intervals."""
    counts = totals.counts
    counted, with_lost = counts.scored, counts.scored + counts.lost
    return RunSummary(
        episodes=totals.episodes,
        tasks=totals.tasks,
        scored_tasks=totals.scored_tasks,
        counts=counts,
        lost=totals.lost,
        solved=totals.solved,
        score_sum=totals.score_sum,
        success_rate=totals.solved / counted if counted else None,
        success_interval=success,
        mean_score=totals.score_sum / counted if counted else None,
        mean_interval=mean,
        lower_bound_success=totals.solved / with_lost if with_lost else None,
        lower_bound_mean=totals.score_sum / with_lost if with_lost else None,
        success_method=method,
        steps=totals.steps,
    )


def counts_text(episodes: int, counts: EpisodeCounts, lost: Mapping[str, int]) -> str:
    """`12 of 20 episodes scored; 3 lost (guest 2, cluster 1), 5 not runnable here`."""
    if episodes == 0:
        return "no episodes"
    noun = "episode" if episodes == 1 else "episodes"
    by_class = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    classes = ", ".join(f"{name} {number}" for name, number in by_class)
    rest = [
        (counts.lost, f"lost ({classes})" if classes else "lost"),
        (counts.human_assisted, "human-assisted (not counted)"),
        (counts.handed_in, "submitted for comparison"),
        (counts.quarantined, "quarantined (not counted)"),
        (counts.cancelled, "cancelled"),
        (counts.not_runnable, "not runnable here"),
        (counts.running, "running"),
        (counts.waiting, "waiting"),
    ]
    words = ", ".join(f"{number} {word}" for number, word in rest if number)
    return f"{counts.scored} of {episodes} {noun} scored" + (f"; {words}" if words else "")
