"""What the REST API takes and gives: one model per object. Benchmarks, tasks, boards, workers: `schemas_catalog`.

Times are UTC, in ISO 8601. Ids are UUIDs. Scores and rates lie in [0, 1]; `null` where there is nothing to divide by.
"""

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from backend.domain.errors import FailureClass
from backend.domain.model.episode import EndedBy, EpisodeState, Outcome, RunState
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.run import Budget, ImageView, RunConfig, ScreenSize, Settle
from backend.domain.model.task import Difficulty
from backend.domain.scheduling.priorities import HIGHEST, LOWEST
from backend.services.capacity.scheduling_fields import MOST_AT_ONCE

T = TypeVar("T")
Interval = tuple[float, float]
"""Lower and upper end."""


class RequestModel(BaseModel):
    """A request body: an unknown field is an error, so that a typo is never silently ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """An answer."""

    model_config = ConfigDict(frozen=True)


class FieldProblem(ResponseModel):
    """One field of a request that is wrong."""

    path: str = Field(examples=["budget.max_steps"])
    message: str = Field(examples=["Input should be greater than or equal to 1"])


class Problem(ResponseModel):
    """An error, as `application/problem+json` (RFC 9457)."""

    type: str = Field(description="Page that explains the code.", examples=["/docs/errors.html#unknown_plugin"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    code: str = Field(description="Stable name of the error.", examples=["unknown_plugin"])
    detail: str = Field(examples=["agent: there is no agent called 'gpt'"])
    hint: str = Field(default="", description="What to do about it.", examples=["Known: noop, oracle, random."])
    path: str = Field(default="", description="The field, file or key that is wrong.", examples=["agent"])
    errors: list[FieldProblem] = []


class Page(ResponseModel, Generic[T]):
    """A part of a list. `next` is the address of the following part, or null."""

    items: list[T]
    next: str | None = Field(default=None, examples=["/api/v1/runs?limit=50&cursor=eyJ..."])


class EpisodeCountsView(ResponseModel):
    """Episodes by where they are; the eight add up to all.

    `mixed`: scored, but a person helped, so not counted. `handed_in`: judged by people, so without a score.
    """

    scored: int = 0
    lost: int = 0
    cancelled: int = 0
    not_runnable: int = 0
    waiting: int = 0
    running: int = 0
    mixed: int = 0
    handed_in: int = 0


class RateInterval(ResponseModel):
    """The intervals of both rates and how they were computed."""

    level: float = Field(default=0.95, examples=[0.95])
    success_rate: Interval | None = None
    mean_score: Interval | None = None
    words: str = Field(examples=["95 %: Wilson score interval; mean score: bootstrap over tasks"])


class RunSummaryView(ResponseModel):
    """What a run or a part of it comes to. Rates are over scored episodes; nothing lost is hidden.

    `lower_bound_*` count every lost episode as 0.
    """

    episodes: int
    counts: EpisodeCountsView
    outcomes: dict[str, int] = Field(description="Ended episodes by outcome.", examples=[{"scored": 22, "lost": 2}])
    lost: dict[str, int] = Field(description="Lost episodes by failure class.", examples=[{"guest": 2}])
    solved: int = 0
    success_rate: float | None = Field(examples=[0.75])
    success_interval: Interval | None = Field(examples=[[0.55, 0.88]])
    mean_score: float | None = Field(examples=[0.79])
    mean_interval: Interval | None = Field(examples=[[0.62, 0.93]])
    interval: RateInterval
    lower_bound_success: float | None = Field(examples=[0.69])
    lower_bound_mean: float | None = Field(examples=[0.72])
    denominator_words: str = Field(examples=["22 scored of 24 episodes; 2 lost (guest 2)"])


class TaskSetRef(ResponseModel):
    """The version of a benchmark that a run is pinned to."""

    id: UUID
    version: int = Field(examples=[1])
    content_hash: str = Field(description="sha256 of all tasks and assets.")


class RunTuning(RequestModel):
    """How a run shares in the slots; nothing of what it measures. In a change, what is not given stays."""

    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST, description="Higher ones come first.", examples=[5])
    concurrency: int | None = Field(
        default=None, ge=1, le=MOST_AT_ONCE, description="Episodes at once at most; null = no limit.", examples=[4]
    )


class RunSubmit(RunTuning):
    """A run to start. Only `benchmark` and `agent` are needed."""

    benchmark: str = Field(min_length=1, max_length=100, examples=["starter"])
    agent: str = Field(min_length=1, max_length=100, examples=["oracle"])
    params: dict[str, Any] = Field(default={}, description="The agent's parameters, by its own schema.", examples=[{}])
    name: str = Field(default="", max_length=200, examples=["nightly"])
    provider: str = Field(default="local", min_length=1, max_length=100)
    desktop_image: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9][a-z0-9.-]{0,62}$",
        description="Image of the provider that desktops are made of; null = its own choice, by the task's system.",
        examples=["linux-minimal"],
    )
    preset: str | None = Field(
        default=None,
        max_length=50,
        description="A benchmark's published setting; it fills in what the request leaves open.",
        examples=["osworld"],
    )
    observation: str | None = Field(default=None, max_length=100, description="Null = the agent's own.")
    observation_params: dict[str, Any] | None = Field(default=None, description="Options of the observation space.")
    action_space: str | None = Field(default=None, max_length=100, description="Null = the agent's own.")
    action_params: dict[str, Any] | None = Field(default=None, description="Options of the action space.")
    image: ImageView | None = Field(default=None, description="How the picture is made ready for the agent.")
    perturbation: Literal["moved", "shrunk", "cluttered"] | None = Field(
        default=None, description="What is done to the windows after set-up."
    )
    judge: JudgeConfig | None = Field(
        default=None,
        description="The model that judges tasks which want one.",
        examples=[{"endpoint": "openai", "model": "gpt-4o", "votes": 3}],
    )
    variant: str | None = Field(
        default=None,
        pattern=r"^[a-z_]{1,50}=[A-Za-z0-9_.-]{1,50}$",
        description="`axis=value`.",
        examples=["context=none"],
    )
    tasks: list[str] = Field(
        default=[],
        max_length=10_000,
        description="Glob patterns over domain/name; empty = all.",
        examples=[["files/*"]],
    )
    repeats: int = Field(default=1, ge=1, le=100)
    seed: int = Field(default=0, ge=0, le=2**53)
    screen: ScreenSize = ScreenSize()
    budget: Budget = Budget()
    settle: Settle = Settle()
    wait: Settle = Field(default=RunConfig.model_fields["wait"].default, description="What the agent's WAIT waits for.")
    open: bool = Field(default=False, description="Stays running until closed, so that episodes can be added.")


class ForecastView(ResponseModel):
    """What a run would cost and could tell, before it is submitted."""

    episodes: int = Field(description="Episodes that would run.", examples=[24])
    tasks: int = Field(examples=[24])
    not_runnable: list["NotRunnableView"] = []
    slots: int = Field(description="Desktops that work at the same time for this provider.", examples=[2])
    seconds: float | None = Field(description="Expected wall time; null where nothing comparable has run.")
    seconds_words: str = Field(examples=["about 4 min on 2 slots, from 48 earlier episodes of this agent"])
    detectable_difference: float | None = Field(
        description="Smallest difference of two success rates that two such runs would show (80 % power, 5 % level).",
        examples=[0.28],
    )
    problems: list[FieldProblem] = Field(default=[], description="Why it cannot be submitted as it stands.")


class NotRunnableView(ResponseModel):
    """A task that cannot run here, and why."""

    task: str = Field(examples=["calc/sum-column"])
    reason: str = Field(examples=["localc is not installed"])


class WaitView(ResponseModel):
    """Why an episode waits."""

    why: str = Field(
        description="The first of all reasons that would have to go before it may begin.",
        examples=["8 of 8 slots are in use; 3 episodes of its run come first"],
    )
    ahead: int | None = Field(
        default=None,
        description="Waiting episodes of its run that come first; null where it waits for more than a turn or a limit.",
    )
    starts_at: datetime | None = Field(
        default=None,
        description="About when it begins, if its run keeps the slots it has; null where that cannot be said.",
    )


class ConcurrencyView(ResponseModel):
    """How many of a run's episodes can be under way at once now, and what limits it."""

    at_once: int = Field(description="The least of all that limits it.", examples=[3])
    slots: int = Field(description="Slots of its provider that may be used now.", examples=[8])
    factor: str = Field(description="The limiting factor, in words.", examples=["model rate limit"])
    words: str = Field(examples=["3 of 8 slots: model rate limit"])


class EpisodeView(ResponseModel):
    """One (task, repeat) of a run: what the leaderboard counts."""

    id: UUID
    run_id: UUID
    task_id: UUID
    task: str = Field(description="domain/name", examples=["files/rename-report"])
    domain: str = Field(examples=["files"])
    difficulty: Difficulty | None = None
    level: str | None = None
    repeat: int = Field(examples=[1])
    seed: int
    state: EpisodeState
    reason: str = Field(default="", description="Why it was held back or is not runnable.")
    waiting: WaitView | None = Field(default=None, description="Why it waits; null where it does not.")
    outcome: Outcome | None = None
    mixed: bool = Field(default=False, description="A person helped: scored, but not counted as the agent's.")
    ended_by: EndedBy | None = None
    failure_class: FailureClass | None = None
    failure_message: str = ""
    score: float | None = Field(default=None, ge=0, le=1)
    solved: bool | None = None
    steps: int = Field(
        default=0, description="Steps so far of the attempt under way; after it, those of the one that counts."
    )
    attempts: int = Field(default=0, description="How many attempts were made.", examples=[1])
    seconds: dict[str, float] = Field(
        default={},
        description="Seconds by phase of the newest attempt.",
        examples=[{"reset": 0.8, "setup": 1.2, "agent": 6.0, "evaluation": 0.3}],
    )
    flagged: bool = False
    flag_reason: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None


class RunView(ResponseModel):
    """One submitted experiment. `episodes` only with `?include=episodes`."""

    id: UUID
    name: str
    status: RunState
    benchmark: str = Field(examples=["starter"])
    task_set: TaskSetRef
    agent: str = Field(examples=["oracle"])
    params: dict[str, Any]
    provider: str = Field(examples=["local"])
    config: dict[str, Any] = Field(description="The whole frozen configuration.")
    pins: dict[str, Any] = Field(
        default={}, description="What else defines the agent: code, hashes of prompts, model, price, spaces, budgets."
    )
    purpose: str = Field(description="measure, validate or demo", examples=["measure"])
    open: bool = False
    priority: int = Field(default=0, description="-10 to 10; higher ones come first.")
    concurrency: int | None = Field(default=None, description="Its simultaneous episodes at most; null = no limit.")
    effective: ConcurrencyView | None = Field(
        default=None, description="Only where one run is asked for, until it ends."
    )
    actor: str = ""
    counts: EpisodeCountsView
    summary: RunSummaryView
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    episodes: list[EpisodeView] | None = None


class RetryBody(RequestModel):
    """Which ended episodes to try again: lost ones, or those that could not run here."""

    failure_classes: list[FailureClass] = Field(default=[], description="Empty = every class.")
    not_runnable: bool = Field(default=True, description="Also those that were not runnable here.")


class AddEpisodesBody(RequestModel):
    """Further episodes for an open run."""

    tasks: list[str] = Field(default=[], max_length=10_000, examples=[["files/*"]])
    repeats: int = Field(default=1, ge=1, le=100)


class ChangeResult(ResponseModel):
    """How many episodes a command touched."""

    run: UUID
    status: RunState
    episodes: int = Field(description="Episodes that changed.", examples=[3])


ForecastView.model_rebuild()
