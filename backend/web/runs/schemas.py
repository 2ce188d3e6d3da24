"""Bodies of requests about runs.

Times are UTC, in ISO 8601. Ids are UUIDs. Scores and rates are in [0, 1].
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from backend.domain.errors import FailureClass
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.label_filter import CONDITION
from backend.domain.model.outside_results import OutsideResults
from backend.domain.model.run import Budget, ImageView, RunConfig, ScreenSize, Settle
from backend.domain.scheduling.priorities import HIGHEST, LOWEST
from backend.services.capacity.scheduling_fields import MOST_AT_ONCE, MOST_SPENT, MOST_TOKENS
from backend.web.api_common import RequestModel

Condition = Annotated[str, Field(pattern=CONDITION)]


class SchedulingBody(RequestModel):
    """A run's scheduling settings. Results are unaffected. In a change, omitted fields stay."""

    priority: int = Field(default=0, ge=LOWEST, le=HIGHEST, description="Higher ones come first.", examples=[5])
    concurrency: int | None = Field(
        default=None, ge=1, le=MOST_AT_ONCE, description="Episodes at once at most; null = no limit.", examples=[4]
    )
    run_usd: float | None = Field(
        default=None,
        ge=0,
        le=MOST_SPENT,
        description="US dollars that all its episodes together may spend; then the rest waits. Null = no limit.",
        examples=[50],
    )
    run_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS, description="Likewise, tokens.")
    run_desktop_hours: float | None = Field(
        default=None, ge=0, le=MOST_SPENT, description="Likewise, hours of desktops."
    )


class RunSubmit(SchedulingBody):
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
        description="A benchmark's published settings, for fields that the request omits.",
        examples=["osworld"],
    )
    observation: str | None = Field(default=None, max_length=100, description="Null = the agent's own.")
    observation_params: dict[str, Any] | None = Field(default=None, description="Options of the observation space.")
    action_space: str | None = Field(default=None, max_length=100, description="Null = the agent's own.")
    action_params: dict[str, Any] | None = Field(default=None, description="Options of the action space.")
    image: ImageView | None = Field(default=None, description="How pictures are prepared for the agent.")
    perturbation: Literal["moved", "shrunk", "cluttered"] | None = Field(
        default=None, description="Change to the windows after set-up."
    )
    judge: JudgeConfig | None = Field(
        default=None,
        description="The model that judges tasks which require one.",
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
    where: list[Condition] = Field(
        default=[],
        max_length=100,
        description="`label=value`: only tasks with these labels; several values of one label are alternatives.",
        examples=[["level=L3", "feasible=no"]],
    )
    repeats: int = Field(default=1, ge=1, le=100)
    seed: int = Field(default=0, ge=0, le=2**53)
    screen: ScreenSize = ScreenSize()
    budget: Budget = Budget()
    settle: Settle = Settle()
    wait: Settle = Field(default=RunConfig.model_fields["wait"].default, description="What the agent's WAIT waits for.")
    accepts_episodes: bool = Field(
        default=False, description="Stays running until closed, so that episodes can be added."
    )
    without_episodes: bool = Field(
        default=False, description="Starts without episodes, whatever is selected; only with `accepts_episodes`."
    )


class RetryBody(RequestModel):
    """Which ended episodes to retry: lost ones, or those that could not run here."""

    failure_classes: list[FailureClass] = Field(default=[], description="Empty = every class.")
    not_runnable: bool = Field(default=True, description="Also those that were not runnable here.")


class AddEpisodesBody(RequestModel):
    """Further episodes for an open run."""

    tasks: list[str] = Field(default=[], max_length=10_000, examples=[["files/*"]])
    where: list[Condition] = Field(
        default=[], max_length=100, description="`label=value`, as when the run was started."
    )
    repeats: int = Field(default=1, ge=1, le=100)


class OutsideResultsBody(RequestModel):
    """Results that another tool measured. A missing `score` is a missing result, never a 0."""

    benchmark: str = Field(min_length=1, max_length=100, examples=["osworld"])
    version: int | None = Field(default=None, ge=1, le=2**31, description="Null = the newest.")
    name: str = Field(default="", max_length=200, examples=["agent-s on OSWorld"])
    results: OutsideResults
