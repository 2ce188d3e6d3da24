"""`noop`: does nothing and says DONE; the baseline score of a task."""

from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.AGENT, "noop")
class Noop:
    """Says DONE at its first step."""

    Params = Parameters
    observation = "screenshot"
    action_space = "computer_13"
    about = "Does nothing and declares the task done: must score 0 on every task."
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = params

    def reset(self, context: AgentContext) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation) -> Decision:  # noqa: ARG002
        return Decision(actions=(Action(type=ActionType.DONE),), explanation="I do nothing and call it done.")

    def close(self) -> None:
        """Nothing to release."""
