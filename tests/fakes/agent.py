"""An agent with scripted answers."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext

Answer = Decision | Exception | Callable[[Observation], Decision]


class NoParams(BaseModel):
    """An agent without parameters."""


class ScriptedAgent:
    """Answers from a list: a Decision, an exception to raise, or a function of the observation; after it, DONE.

    Attributes:
        answers: those that are left.
        seen: observations it received.
        context: what it received at the start; None before.
        closed: how often it was closed.
    """

    Params: type[BaseModel] = NoParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Answers from a list."
    privileged = False

    def __init__(
        self, params: Any = None, *, answers: Sequence[Answer] = (), on_reset: Exception | None = None
    ) -> None:
        self.answers: list[Answer] = list(answers)
        self._on_reset = on_reset
        self.seen: list[Observation] = []
        self.context: AgentContext | None = None
        self.closed = 0

    def reset(self, context: AgentContext) -> None:
        self.context = context
        if self._on_reset is not None:
            raise self._on_reset

    def act(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        answer = self.answers.pop(0) if self.answers else Decision(actions=(Action(type=ActionType.DONE),))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Decision) else answer(observation)

    def close(self) -> None:
        self.closed += 1
