"""REST schemas of benchmarks, tasks, leaderboards and workers. Runs and episodes: `schemas`."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from backend.domain.model.task import Difficulty, DifficultySource
from backend.domain.statistics.intervals import Interval
from backend.services.read_model import ReadModel
from backend.services.runs.summary import RunSummary
from backend.services.runs.views.run import TaskSetRef


class BenchmarkView(ReadModel):
    """A named collection of tasks, at its newest version."""

    id: UUID
    name: str = Field(examples=["starter"])
    title: str = ""
    kind: str = Field(examples=["starter"])
    licence: str = ""
    source: str = ""
    task_set: TaskSetRef | None = None
    versions: int = Field(default=1, description="How many task sets there are.")
    tasks: int = Field(default=0, examples=[24])
    infeasible: int = Field(default=0, description="Tasks whose only right end is to say that they cannot be done.")
    domains: dict[str, int] = Field(default={}, examples=[{"files": 5}])
    difficulties: dict[str, int] = Field(default={}, examples=[{"easy": 9, "unlabelled": 1}])
    levels: dict[str, int] = Field(default={}, examples=[{"L1": 8, "L2": 2}])
    disciplines: dict[str, int] = Field(default={}, examples=[{"Science": 4}])
    selections: dict[str, int] = Field(
        default={},
        description="Tasks of each named selection; a run takes one as `@name`.",
        examples=[{"test_small": 6}],
    )
    variants: dict[str, int] = Field(default={}, description="Tasks of each variant.", examples=[{"context=none": 154}])
    unknown: list[str] = Field(
        default=[], description="Set-up steps, getters, metrics and parameters of tasks that nobody here understands."
    )
    warnings: list[str] = Field(default=[])


class ImportFromUrl(ReadModel):
    """A benchmark whose files lie in the web: a zip, or a repository's page on GitHub."""

    kind: str = Field(min_length=1, max_length=100, examples=["osworld"])
    url: str = Field(min_length=1, max_length=2000, examples=["https://github.com/xlang-ai/OSWorld"])
    name: str = Field(default="", max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$|^$")
    title: str = Field(default="", max_length=200)
    strict_upstream: bool = Field(default=False, description="Metrics judge as published, faults included.")


class LabelResult(ReadModel):
    """What an import of labels did."""

    rows: int
    tasks: int = Field(description="Tasks of all versions whose labels changed.")


class ChangeView(ReadModel):
    """A place in a task that differs."""

    place: str = Field(examples=["evaluator.calls.0.options"])
    old: str | None = None
    new: str | None = None


class TaskChangeView(ReadModel):
    """A task that differs between two task sets."""

    task: str
    kind: Literal["added", "removed", "changed"]
    changes: list[ChangeView] = Field(default=[])
    scores: bool = Field(description="Whether stored scores of the old version are touched; not by labels alone.")
    episodes: int = Field(default=0, description="Scored episodes of the old version that it touches.")
    evaluations: int = Field(default=0, description="Stored evaluations of the old version that it touches.")


class DifferenceView(ReadModel):
    """What turns one task set into another."""

    old: str = Field(examples=["osworld@1"])
    new: str = Field(examples=["osworld@2"])
    added: int = 0
    removed: int = 0
    changed: int = 0
    same: int = 0
    tasks: list[TaskChangeView] = Field(default=[])


class ReportedView(ReadModel):
    """A number that a paper reports; never measured here."""

    source: str = Field(examples=["OSWorld paper, Table 5"])
    agent: str
    observation: str = ""
    measure: str = Field(examples=["success_rate"])
    group_kind: str = Field(default="", examples=["overall"])
    group: str = ""
    value: float = Field(description="As printed, in `unit`.")
    unit: str = Field(default="", examples=["percent"])
    note: str = ""


class ImportResult(ReadModel):
    """Result of an import. `created` is false if the same files were imported before."""

    benchmark: BenchmarkView
    created: bool
    warnings: list[str] = Field(default=[])


class LintFinding(ReadModel):
    """One thing in a task that is wrong or odd."""

    task: str = Field(examples=["files/rename-report"])
    path: str = Field(examples=["evaluator.calls.0.func"])
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"


class LintReport(ReadModel):
    """All findings of a benchmark; `ok` when none of them is an error."""

    benchmark: str
    ok: bool
    tasks: int
    findings: list[LintFinding] = Field(default=[])


class Validation(ReadModel):
    """What oracle, noop and always_fail scored on one task, and whether that is sound."""

    task: str
    feasible: bool
    oracle: float | None = None
    noop: float | None = None
    always_fail: float | None = None
    sound: bool | None = Field(description="null: not validated, or not all three have ended.")
    reason: str = ""


class ValidationReportView(ReadModel):
    """The state of a benchmark's validation. `done` once its three runs have ended."""

    benchmark: str
    done: bool
    ok: bool
    runs: dict[str, UUID] = Field(default={}, examples=[{"oracle": "018f0000-0000-7000-8000-000000000000"}])
    sound: int = 0
    unsound: int = 0
    not_runnable: int = 0
    tasks: list[Validation] = Field(default=[])


class TaskView(ReadModel):
    """One task, as lists show it."""

    id: UUID
    task: str = Field(description="domain/name", examples=["files/rename-report"])
    benchmark: str
    domain: str
    name: str
    instruction: str
    dialect: str
    difficulty: Difficulty | None = None
    difficulty_source: DifficultySource | None = None
    level: str | None = None
    os: str = "linux"
    feasible: bool = True
    apps: list[str] = Field(default=[])
    requires: list[str] = Field(default=[])
    human_seconds: float | None = None
    human_steps: int | None = None
    quarantined: str = Field(default="", description="Why it is in quarantine; empty = it is not.")


class TaskDetail(TaskView):
    """One task in full. `spec` is everything that decides how it runs and is scored."""

    task_set: TaskSetRef
    content_hash: str
    spec: dict[str, Any]
    variants: dict[str, dict[str, Any]] = Field(
        default={}, description="`spec` under other conditions, by `axis=value`.", examples=[{}]
    )
    assets: list[str] = Field(default=[], description="Addresses of the files of the web that the task needs.")
    validation: Validation | None = None


class MeasureView(ReadModel):
    """A measure's mean."""

    mean: float = Field(examples=[0.42])
    interval: Interval
    n: int = Field(description="Values that it is the mean of; of the pooled measure `parts`, the parts.")
    tasks: int = Field(description="Tasks that have a value.")
    undefined_tasks: int = Field(description="Scored tasks without a value where they could have one.")


class MeasureDefinition(ReadModel):
    """Definition of a measure."""

    title: str = Field(examples=["CR"])
    text: str


class LeaderboardRow(ReadModel):
    """One agent configuration. `rank` is null for floors and for agents that see the task."""

    rank: int | None = None
    tie_group: int | None = Field(default=None, description="Rows of one group cannot be told apart.")
    agent: str
    params: dict[str, Any] = Field(default={})
    mark: str = Field(default="", description="floor, privileged or empty")
    variant: str | None = Field(default=None, description="Condition under which its tasks were done.")
    runs: list[UUID] = Field(default=[])
    summary: RunSummary
    tasks: int = 0
    missing_tasks: int = Field(default=0, description="Tasks of the task set that this row has no scored episode of.")
    by_domain: dict[str, RunSummary] = Field(default={})
    by_difficulty: dict[str, RunSummary] = Field(default={})
    by_level: dict[str, RunSummary] = Field(default={})
    by_capability: dict[str, RunSummary] = Field(default={}, description="OmniBench's capabilities, by their letters.")
    by_complexity: dict[str, RunSummary] = Field(default={}, description="Its complexities, as in `branch/hard`.")
    measures: dict[str, MeasureView] = Field(default={}, description="Over all tasks, by the measure's name.")
    measures_by: dict[str, dict[str, dict[str, MeasureView]]] = Field(
        default={}, description="By dimension (`level`, `capability`, ...), then by key, then by measure."
    )


class Leaderboard(ReadModel):
    """Leaderboard of one task set."""

    benchmark: str
    task_set: TaskSetRef
    tasks: int
    as_of: datetime | None = Field(default=None, description="When the newest of its figures were computed.")
    stale: bool = Field(default=False, description="Episodes have changed since; workers compute it again.")
    rows: list[LeaderboardRow] = Field(default=[])
    measures: dict[str, MeasureDefinition] = Field(default={}, description="Definitions of the rows' measures.")
    reported: list[ReportedView] = Field(default=[], description="What papers report; no part of the ranking.")


class SlotView(ReadModel):
    """The right to run one desktop on one node."""

    node: str
    provider: str
    index: int
    state: str = Field(
        description="free, leased, broken, draining, or closed: nothing may begin on its node now.", examples=["free"]
    )
    reason: str = Field(default="", description="Why it cannot be used.")
    attempt_id: UUID | None = None
    episode_id: UUID | None = None


class LeasedSlotView(SlotView):
    """A slot with who holds it."""

    worker: str = Field(default="", description="Who holds its lease.")
    task: str = Field(default="", description="What runs there.")
    since: datetime | None = Field(default=None, description="When the lease was taken.")


class NodeView(ReadModel):
    """A machine with slots: a worker's own, or one of a cluster."""

    cluster: str = Field(description="Empty: a worker's own machine.")
    name: str = Field(description="Empty: wherever the cluster's scheduler places a desktop.")
    state: str = Field(description="ready, draining, unready, lost or gone", examples=["draining"])
    reason: str = Field(default="", examples=["cordoned: somebody keeps new pods away from it"])
    last_seen_seconds: float = Field(description="Since a worker last saw it in its cluster, or it was first known.")
    labels: dict[str, str] = Field(default={})
    capacity: dict[str, int] = Field(
        default={}, description="Bytes of `memory` and `disk`, `cpu` in thousandths, `devices`."
    )
    slots: list[LeasedSlotView] = Field(default=[])


class WorkerView(ReadModel):
    """A process that runs attempts, and its capabilities."""

    id: UUID
    name: str
    node: str
    host: str
    pid: int
    version: str = ""
    state: str = Field(description="online, offline or draining", examples=["online"])
    capabilities: dict[str, Any] = Field(default={})
    slots: list[SlotView] = Field(default=[])
    started_at: datetime
    heartbeat_at: datetime
