"""`remote`: an agent that runs elsewhere and speaks REST (docs/bring-an-agent.md)."""

from typing import Any

from pydantic import Field

from backend.domain.agents._outside import OutsideAgent
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register


class RemoteParams(Parameters):
    """Empty: a remote agent is configured where it runs."""

    label: str = Field(
        default="", max_length=100, description="Name and version of your agent: leaderboards tell agents apart by it."
    )


@register(PluginKind.AGENT, "remote")
class Remote:
    """Offers each observation over the channel and waits for the answer."""

    Params = RemoteParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Your own program, wherever it runs: it asks for observations and posts actions with an episode's token."
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = params
        self._outside: OutsideAgent | None = None

    def reset(self, context: AgentContext) -> None:
        """Takes the channel. Raises AgentFailed if this worker has none."""
        self._outside = OutsideAgent(context)

    def act(self, observation: Observation) -> Decision:
        if self._outside is None:
            raise RuntimeError("act() before reset()")
        self._outside.offer(observation)
        return self._outside.answer(observation)

    def close(self) -> None:
        """Nothing to release: the channel belongs to the attempt."""
