"""`always_fail`: calls every task infeasible; the baseline of an agent that never looks at the screen."""

from typing import Any

from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.AGENT, "always_fail")
class AlwaysFail:
    """Says FAIL at its first step."""

    Params = Parameters
    observation = "screenshot"
    action_space = "computer_13"
    about = "Declares every task infeasible: scores on infeasible tasks only, and shows what that alone is worth."
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = params

    def reset(self, context: AgentContext) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation) -> Decision:  # noqa: ARG002
        return Decision(actions=(Action(type=ActionType.FAIL),), explanation="I say that it cannot be done.")

    def close(self) -> None:
        """Nothing to release."""
