"""An agent that waits in mid-episode until a test releases it."""

from threading import Event
from typing import Any

from pydantic import BaseModel

from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from tests.fakes.agent import NoParams


class PatientAgent:
    """Waits at its second step for `go`, then says DONE. All its instances share the two events.

    Attributes:
        waiting: set while one of them waits.
        go: releases them.
    """

    Params: type[BaseModel] = NoParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Waits until it may go on."
    privileged = False
    waiting = Event()
    go = Event()

    def __init__(self, params: Any = None) -> None:
        self._steps = 0

    def reset(self, context: AgentContext) -> None:
        pass

    def act(self, observation: Observation) -> Decision:
        self._steps += 1
        if self._steps == 1:
            return Decision(actions=(Action(type=ActionType.CLICK, x=5, y=5),), explanation="first")
        self.waiting.set()
        self.go.wait(60.0)
        return Decision(actions=(Action(type=ActionType.DONE),), explanation="second")

    def close(self) -> None:
        pass
