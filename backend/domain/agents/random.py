"""`random`: random clicks, text and keys, repeatable by seed."""

from random import Random as Dice
from typing import Any

from pydantic import Field

from backend.domain.errors import AgentFailed
from backend.domain.model.parameters import Parameters
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register

_KEYS = (
    "enter",
    "esc",
    "tab",
    "space",
    "up",
    "down",
    "left",
    "right",
    "backspace",
    "delete",
    "home",
    "end",
    "f2",
    "f10",
)
_HOTKEYS = (("ctrl", "a"), ("ctrl", "c"), ("ctrl", "v"), ("ctrl", "x"), ("ctrl", "z"), ("ctrl", "s"), ("alt", "f"))
_KINDS = (
    *(ActionType.CLICK,) * 5,
    ActionType.DRAG_TO,
    ActionType.SCROLL,
    ActionType.TYPING,
    ActionType.PRESS,
    ActionType.HOTKEY,
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789"


class RandomParams(Parameters):
    """Parameters of `random`."""

    actions_per_step: int = Field(default=1, ge=1, le=10, description="Number of actions at each step.")
    stop_chance: float = Field(
        default=0.0, ge=0, le=1, description="Probability, at each step, of declaring the task done."
    )


@register(PluginKind.AGENT, "random")
class Random:
    """Draws only from the episode's seed: the same seed gives the same actions."""

    Params = RandomParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Clicks, types and presses keys at random, from a seed: the score that luck alone reaches."
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = RandomParams.model_validate(dict(params))
        self._dice: Dice | None = None
        self._screen = ScreenSize()

    def reset(self, context: AgentContext) -> None:
        """Takes the episode's seed and the screen's size."""
        self._dice = Dice(context.seed)  # noqa: S311 - repeatable on purpose, no secret.
        self._screen = context.screen

    def act(self, observation: Observation) -> Decision:  # noqa: ARG002
        if self._dice is None:
            raise AgentFailed("the random agent was asked before its episode started", code="agent_not_started")
        if self._dice.random() < self.params.stop_chance:
            return Decision(actions=(Action(type=ActionType.DONE),), explanation="Random: done.")
        actions = tuple(self._draw(self._dice) for _ in range(self.params.actions_per_step))
        drawn = ", ".join(action.type.lower().replace("_", " ") for action in actions)
        return Decision(actions=actions, explanation=f"Random: {drawn}.")

    def close(self) -> None:
        """Nothing to release."""

    def _draw(self, dice: Dice) -> Action:
        x, y = dice.randrange(self._screen.width), dice.randrange(self._screen.height)
        kind = dice.choice(_KINDS)
        if kind is ActionType.CLICK:
            button, clicks = dice.choice((("left", 1), ("left", 1), ("left", 1), ("left", 2), ("right", 1)))
            return Action(type=kind, x=x, y=y, button=button, clicks=clicks)
        if kind is ActionType.DRAG_TO:
            return Action(type=kind, x=x, y=y)
        if kind is ActionType.SCROLL:
            return Action(type=kind, dy=dice.choice((-5, -3, 3, 5)))
        if kind is ActionType.TYPING:
            return Action(type=kind, text="".join(dice.choices(_LETTERS, k=dice.randint(1, 12))))
        return Action(type=kind, keys=(dice.choice(_KEYS),) if kind is ActionType.PRESS else dice.choice(_HOTKEYS))
