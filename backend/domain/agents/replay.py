"""`replay`: repeats the actions of a recorded trajectory."""

from typing import Any
from uuid import UUID

from pydantic import Field

from backend.domain.errors import AgentFailed
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation, Usage
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register


class ReplayParams(Parameters):
    """The episode to repeat. Default: the newest scored episode of the same task by another agent."""

    run: UUID | None = Field(
        default=None, description="A recorded run; each episode replays its episode of the same task and repeat."
    )
    episode: UUID | None = Field(default=None, description="A recorded episode, replayed for every task of the run.")


@register(PluginKind.AGENT, "replay")
class ReplayAgent:
    """Takes one recorded decision per step, whatever the screen shows; then says DONE.

    It is privileged, so never ranked: another agent made the decisions.
    """

    Params = ReplayParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Repeats the actions of a recorded episode to see whether they still work."
    privileged = True

    def __init__(self, params: Any) -> None:
        self.params = params
        self._left: list[Decision] = []

    def reset(self, context: AgentContext) -> None:
        """Loads the recorded decisions. Raises AgentFailed if there are none."""
        if not context.trajectory:
            raise AgentFailed(
                "there is no recorded trajectory to replay",
                code="nothing_to_replay",
                hint="Choose an episode that has steps.",
            )
        self._left = list(context.trajectory)

    def act(self, observation: Observation) -> Decision:  # noqa: ARG002
        if not self._left:
            return Decision(actions=(Action(type=ActionType.DONE),), explanation="The recording is over.")
        # No model is asked, so nothing is charged again.
        return self._left.pop(0).model_copy(update={"usage": Usage()})

    def close(self) -> None:
        """Nothing to release."""
