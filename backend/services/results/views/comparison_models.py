"""Read models of a comparison of runs, and of the test for a regression."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import Field

from backend.db.models.enums import Origin
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.domain.statistics.intervals import LEVEL, Interval
from backend.services.configurations.configuration_ref import ConfigurationRef
from backend.services.read_model import ReadModel
from backend.services.results.configuration_differences import FieldDifference


class DifferenceView(ReadModel):
    """A rate in the first run and in another one, and the other minus the first."""

    base: float = Field(examples=[0.55])
    other: float = Field(examples=[0.612])
    value: float = Field(examples=[0.062])
    interval: Interval = Field(examples=[[0.021, 0.104]])


class CostDifference(ReadModel):
    """Mean difference of steps, seconds or USD per task, over the tasks where both runs have a value."""

    base: float
    other: float
    value: float
    interval: Interval | None = Field(description="Student's; null for fewer than two tasks.")
    tasks: int


class ComparedRun(ReadModel):
    """One run, over the common tasks only."""

    id: UUID
    runs: list[UUID] = Field(description="It and further passes of its configuration, if these are pooled.")
    title: str
    agent: str
    configuration: ConfigurationRef
    origin: Origin = Field(description="`outside`: imported results, not measured here.")
    version: int = Field(description="Of its task set.")
    status: RunState
    success_rate: float | None
    success_interval: Interval | None
    mean_score: float | None
    mean_interval: Interval | None
    tasks: int = Field(description="Its tasks, common or not.")
    lost: int = Field(description="Its lost episodes that no other pass made up for, on all tasks that count.")

    @property
    def ended(self) -> bool:
        return self.status in ENDED_RUNS


class RunDifference(ReadModel):
    """One run against the first one.

    `regression_p`: of the same test, one-sided, that this run is not worse.
    """

    run: UUID
    sentence: str
    success_rate: DifferenceView
    mean_score: DifferenceView
    better: int = Field(description="Common tasks with a higher solve rate than in the first run.")
    worse: int = Field(description="Those with a lower one.")
    both_solved: int = Field(description="Those that every pass of both runs solved.")
    neither_solved: int = Field(description="Those that no pass of either run solved.")
    test: str = Field(examples=["exact McNemar test"])
    p_value: float
    p_adjusted: float = Field(description="By Holm, over all further runs.")
    regression_p: float
    detectable: float | None = Field(description="Smallest difference that these tasks show with 80 % power.")
    costs: dict[str, CostDifference] = Field(
        description="`steps`, `seconds` of the agent, `usd`; those that are known."
    )

    @property
    def borderline(self) -> bool:
        """Whether the interval and the test at 5 % disagree on whether there is a difference."""
        low, high = self.mean_score.interval
        return (low > 0.0 or high < 0.0) != (self.p_value <= 1.0 - LEVEL)


class TaskResult(ReadModel):
    """Scores of a run on a task: means over its passes."""

    score: float
    solve_rate: float
    passes: int
    steps: float | None
    seconds: float | None
    usd: float | None
    episodes: list[UUID]


class ComparedTask(ReadModel):
    """A common task with the results of every run, in their order. `flipped`: solve rates differ."""

    task: str = Field(examples=["files/rename-report"])
    task_id: UUID = Field(description="In the first run's task set.")
    instruction: str
    labels: dict[str, list[str]]
    flipped: bool
    results: list[TaskResult]


class LabelCut(ReadModel):
    """The common tasks with one value of a label."""

    value: str
    tasks: int
    mean_scores: list[float]
    success_rates: list[float]
    differences: list[DifferenceView] = Field(description="Of the mean score: each further run against the first.")


class RunComparison(ReadModel):
    """2 to 8 runs on their common tasks. The first one is what the others are compared with."""

    benchmark: str
    runs: list[ComparedRun]
    alike: bool = Field(description="Their conditions are equal, so a difference is the configuration's.")
    conditions: list[FieldDifference] = Field(description="Differing conditions.")
    configurations: list[FieldDifference]
    common_tasks: int
    left_out: dict[str, int] = Field(
        description="Tasks by the reason why they are not compared.", examples=[{"not scored in every run": 3}]
    )
    differences: list[RunDifference]
    tasks: list[ComparedTask] = Field(description="Flipped tasks first.")
    label: str | None = None
    labels: list[str] = Field(description="Labels of the common tasks with more than one value.")
    cuts: list[LabelCut] = Field(description="By the requested label.")

    def with_titles(self, titles: Sequence[str]) -> "RunComparison":
        """This comparison with other names of the runs, in their order."""
        runs = [run.model_copy(update={"title": title}) for run, title in zip(self.runs, titles, strict=True)]
        return self.model_copy(update={"runs": runs})


class RegressionReport(ReadModel):
    """Whether a run is worse than a baseline: `passed` unless the one-sided paired test finds it."""

    run: UUID
    run_status: RunState
    baseline: UUID
    baseline_status: RunState = Field(description="Unless `completed`, results of the baseline are missing.")
    alpha: float
    passed: bool | None = Field(description="Null without a common task.")
    p_value: float | None
    test: str
    difference: DifferenceView | None
    common_tasks: int
    alike: bool
    conditions: list[FieldDifference]
    sentence: str
