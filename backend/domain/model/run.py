"""The frozen configuration of a run, pinned with its results."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.label_filter import CONDITION
from backend.domain.model.task import Frozen

VALIDATION_AGENTS = ("oracle", "noop", "always_fail")
"""The built-in agents whose scores say whether a task is sound."""


class ScreenSize(Frozen):
    """Size of the desktop in pixels."""

    width: int = Field(default=1920, ge=320, le=7680)
    height: int = Field(default=1080, ge=240, le=4320)


class Budget(Frozen):
    """Limits of an episode. Time excludes reset and set-up.

    Attributes:
        max_steps: None = `level_steps`, else the task's own budget, else 30.
        level_steps: steps by the task's level.
        max_seconds: of the agent's loop.
        max_invalid: consecutive invalid actions before the episode ends by `invalid`.
        max_tokens, max_usd: None = no limit.
    """

    max_steps: int | None = Field(default=None, ge=1, le=1000)
    max_seconds: float = Field(default=1800.0, gt=0, le=86400)
    max_invalid: int = Field(default=5, ge=1, le=100)
    max_tokens: int | None = Field(default=None, ge=1)
    max_usd: float | None = Field(default=None, gt=0)
    level_steps: Mapping[str, Annotated[int, Field(ge=1, le=1000)]] | None = Field(default=None, max_length=20)

    def steps_of(self, level: str | None, own: int | None) -> int | None:
        """Step budget of a task with this level and own budget; None if there is none."""
        return self.max_steps or (self.level_steps or {}).get(level or "") or own


class Settle(Frozen):
    """How long the screen must be still before the next observation: `quiet` seconds, waited for at most `timeout`."""

    quiet: float = Field(default=0.2, ge=0, le=10)
    timeout: float = Field(default=2.0, ge=0, le=60)


class ImageView(Frozen):
    """How the screenshot is transformed for the agent; the trajectory stores the original.

    Attributes:
        scale: of both sides (protocols §9: 0.2, 0.4, 0.6, 0.8, 1).
        fit: (width, height) that it is scaled down to, bicubic, padded to keep the ratio; instead of `scale`.
        beside_previous: place the previous picture, with the last click boxed in red, to its left (OmniBench).
    """

    scale: float = Field(default=1.0, ge=0.05, le=1.0)
    fit: tuple[int, int] | None = None
    beside_previous: bool = False


class RunConfig(Frozen):
    """Everything that determines a run's results; stored with the run and hashed.

    Attributes:
        agent: registered agent name; `params` are validated by the agent's own schema.
        provider: registered provider name.
        observation: registered observation space; None = the agent's default.
        action_space: registered action space; None = the agent's default.
        tasks: glob patterns over `domain/name`, and `@name` for a named selection of the task set; empty = all.
        where: `label=value`: only tasks with these labels; several values of one label are alternatives.
        variant: `axis=value`, the condition under which the tasks are done (`context=none`); None = as they are.
        repeats: episodes per task.
        seed: base seed; an episode's seed is derived from it, its task and its repeat.
        settle: waiting time after actions, before the next observation.
        wait: waiting time of the agent's own WAIT.
        preset: a benchmark's published settings (protocols §3), used for fields that the request left open.
        observation_params, action_params: of the observation and action space, validated by their own schemas.
        image: how the screenshot is transformed for the agent.
        perturbation: change of the windows after set-up: `moved`, `shrunk`, `cluttered` (protocols §9).
        judge: the model that judges tasks which need one; None without a judge.
        desktop_image: image of the desktops; None = the provider's choice, by the task's system.
    """

    agent: str
    params: Mapping[str, Any] = Field(default_factory=dict)
    provider: str = "local"
    observation: str | None = None
    action_space: str | None = None
    tasks: tuple[str, ...] = ()
    where: tuple[Annotated[str, Field(pattern=CONDITION)], ...] = Field(default=(), max_length=100)
    variant: str | None = Field(default=None, pattern=r"^[a-z_]{1,50}=[A-Za-z0-9_.-]{1,50}$")
    repeats: int = Field(default=1, ge=1, le=100)
    seed: int = 0
    screen: ScreenSize = ScreenSize()
    budget: Budget = Budget()
    settle: Settle = Settle()
    wait: Settle = Settle(quiet=0.5, timeout=5.0)
    preset: str | None = Field(default=None, max_length=50)
    observation_params: Mapping[str, Any] | None = None
    action_params: Mapping[str, Any] | None = None
    image: ImageView | None = None
    perturbation: str | None = Field(default=None, pattern="^(moved|shrunk|cluttered)$")
    judge: JudgeConfig | None = None
    desktop_image: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.-]{0,62}$")
