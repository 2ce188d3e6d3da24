"""Summary of a run or a part of it: rates with intervals, full denominators and lower bounds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from statistics import fmean
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, computed_field
from sqlalchemy.orm import Session

from backend.db.repositories.results.rollups import TaskTotals
from backend.domain.model.episode import Outcome
from backend.domain.statistics.intervals import LEVEL, Interval, cluster_mean_of_columns, wilson
from backend.domain.statistics.passes import over_tasks, value_and_ends
from backend.services.read_model import ReadModel
from backend.services.runs.task_totals import task_totals

WILSON = "Wilson score interval"
EFFECTIVE = "Wilson score interval by the effective number of trials, tasks as clusters"
STATES = ("scored", "cancelled", "not_runnable", "waiting", "running", "human_assisted", "handed_in", "quarantined")
"""Counts of episodes by state, besides lost ones."""
SCORE_SUMS = ("score_sum", "score_sq_sum")
COLUMNS = (*STATES, "solved", "steps", *SCORE_SUMS)
Positions = NDArray[np.intp]
"""Positions of tasks in the order of the columns."""


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
    as_of: datetime | None = Field(
        default=None, description="Time of the figures, for a large run that is still active."
    )

    @computed_field(examples=[{"scored": 22, "lost": 2}])  # type: ignore[prop-decorator]
    @property
    def outcomes(self) -> dict[str, int]:
        """Ended episodes by outcome."""
        return {outcome.value: getattr(self.counts, outcome.value) for outcome in Outcome}

    @computed_field  # type: ignore[prop-decorator]
    @property
    def interval(self) -> RateInterval:
        """Both intervals with their method."""
        words = (
            f"{100 * self.level:.0f} % level; success rate: {self.success_method or 'none'}; mean score: {EFFECTIVE}"
        )
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
    return summarise(task_totals(session, run_id))


class TaskColumns:
    """Totals of tasks by column: a run of 25,000 tasks is summed in each of a hundred cells."""

    def __init__(self, tasks: Sequence[TaskTotals]) -> None:
        self._tasks = len(tasks)
        self._columns = {name: np.fromiter(map(attrgetter(name), tasks), float, len(tasks)) for name in COLUMNS}
        classes = sorted({name for task in tasks for name in task.lost})
        self._lost = {name: np.array([task.lost.get(name, 0) for task in tasks], dtype=float) for name in classes}

    @property
    def everything(self) -> Positions:
        """Positions of all tasks."""
        return np.arange(self._tasks)

    def totals(self, positions: Positions) -> RunTotals:
        """Sums over the tasks at these positions."""
        sums = {name: int(column[positions].sum()) for name, column in self._columns.items() if name not in SCORE_SUMS}
        scores = {name: float(self._columns[name][positions].sum()) for name in SCORE_SUMS}
        by_class = {name: int(column[positions].sum()) for name, column in self._lost.items()}
        lost = {name: number for name, number in by_class.items() if number}
        return RunTotals(
            counts=EpisodeCounts(lost=sum(lost.values()), **{name: sums[name] for name in STATES}),
            lost=lost,
            tasks=len(positions),
            scored_tasks=int(np.count_nonzero(self._columns["scored"][positions])),
            solved=sums["solved"],
            steps=sums["steps"],
            **scores,
        )

    def success(self, positions: Positions) -> tuple[Interval | None, str]:
        """Interval of the success rate and its method.

        Wilson's interval if no task counts twice, else that of the effective number of trials.
        """
        scored, solved = self._columns["scored"][positions], self._columns["solved"][positions]
        if (scored <= 1).all():
            return wilson(int(solved.sum()), int(scored.sum())), WILSON
        return cluster_mean_of_columns(scored, solved), EFFECTIVE

    def mean(self, positions: Positions) -> Interval | None:
        """The interval of the mean score."""
        return cluster_mean_of_columns(self._columns["scored"][positions], self._columns["score_sum"][positions])

    def rates(self, positions: Positions) -> dict[str, Any]:
        """Means over tasks of the means over passes, with interval, and with every lost episode as 0."""
        scored, solved, scores = (self._columns[name][positions] for name in ("scored", "solved", "score_sum"))
        results = sum((column[positions] for column in self._lost.values()), scored)
        with_score, attempted = scored > 0, results > 0
        lower_mean, lower_success = (column[attempted] / results[attempted] for column in (scores, solved))
        return {
            "mean": value_and_ends(over_tasks((scores[with_score] / scored[with_score]).tolist())),
            "success": value_and_ends(over_tasks((solved[with_score] / scored[with_score]).tolist())),
            "lower_mean": fmean(lower_mean.tolist()) if with_score.any() else None,
            "lower_success": fmean(lower_success.tolist()) if with_score.any() else None,
        }


def summarise(tasks: Iterable[TaskTotals]) -> RunSummary:
    """From per-task totals."""
    columns = TaskColumns(list(tasks))
    success, method = columns.success(columns.everything)
    return describe(columns.totals(columns.everything), success, columns.mean(columns.everything), method)


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
