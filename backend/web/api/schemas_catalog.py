"""What the REST API gives of benchmarks, tasks, leaderboards and workers. Runs and episodes: `schemas`."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from backend.domain.task import Difficulty, DifficultySource
from backend.web.api.schemas import Summary, TaskSetRef, View


class BenchmarkView(View):
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
    domains: dict[str, int] = Field(default={}, examples=[{"files": 5}])
    difficulties: dict[str, int] = Field(default={}, examples=[{"easy": 9, "unlabelled": 1}])
    warnings: list[str] = Field(default=[])


class ImportResult(View):
    """What an import made. `created` is false when the same files were imported before."""

    benchmark: BenchmarkView
    created: bool
    warnings: list[str] = Field(default=[])


class LintFinding(View):
    """One thing in a task that is wrong or odd."""

    task: str = Field(examples=["files/rename-report"])
    path: str = Field(examples=["evaluator.calls.0.func"])
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"


class LintReport(View):
    """All findings of a benchmark; `ok` when none of them is an error."""

    benchmark: str
    ok: bool
    tasks: int
    findings: list[LintFinding] = Field(default=[])


class Validation(View):
    """What oracle, noop and always_fail scored on one task, and whether that is sound."""

    task: str
    feasible: bool
    oracle: float | None = None
    noop: float | None = None
    always_fail: float | None = None
    sound: bool | None = Field(description="null: not validated, or not all three have ended.")
    reason: str = ""


class ValidationReport(View):
    """The state of a benchmark's validation. `done` once its three runs have ended."""

    benchmark: str
    done: bool
    ok: bool
    runs: dict[str, UUID] = Field(default={}, examples=[{"oracle": "018f0000-0000-7000-8000-000000000000"}])
    sound: int = 0
    unsound: int = 0
    not_runnable: int = 0
    tasks: list[Validation] = Field(default=[])


class TaskView(View):
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
    quarantined: str = Field(default="", description="Why it is in quarantine; empty = it is not.")


class TaskDetail(TaskView):
    """One task in full. `spec` is everything that decides how it runs and is scored."""

    task_set: TaskSetRef
    content_hash: str
    spec: dict[str, Any]
    validation: Validation | None = None


class LeaderboardRow(View):
    """One agent configuration. `rank` is null for floors and for agents that see the task."""

    rank: int | None = None
    tie_group: int | None = Field(default=None, description="Rows of one group cannot be told apart.")
    agent: str
    params: dict[str, Any] = Field(default={})
    mark: str = Field(default="", description="floor, privileged or empty")
    runs: list[UUID] = Field(default=[])
    summary: Summary
    tasks: int = 0
    missing_tasks: int = Field(default=0, description="Tasks of the task set that this row has no scored episode of.")
    by_domain: dict[str, Summary] = Field(default={})
    by_difficulty: dict[str, Summary] = Field(default={})


class Leaderboard(View):
    """Who is better on one task set."""

    benchmark: str
    task_set: TaskSetRef
    tasks: int
    rows: list[LeaderboardRow] = Field(default=[])


class SlotView(View):
    """The right to run one desktop on one node."""

    node: str
    provider: str
    index: int
    state: str = Field(examples=["free"])
    attempt_id: UUID | None = None
    episode_id: UUID | None = None


class WorkerView(View):
    """A process that runs attempts, and what it can do."""

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


class Health(View):
    """Whether the service can do its work."""

    status: Literal["ok", "degraded", "down"]
    version: str
    database: str = Field(examples=["ok"])
    broker: str = Field(examples=["ok"])
    workers: int = Field(default=0, description="Workers online.")
