"""An agent that comes into being in the agent's own thread, so that its constructor is under the same rules."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from backend.domain.model.trajectory import Decision, Observation
from backend.domain.ports.agent import Agent, AgentContext


class LazyAgent:
    """Makes the plug-in's agent when it is first told of the task. Whatever that raises is the agent's failure."""

    def __init__(self, plugin: type[Agent], params: Mapping[str, Any]) -> None:
        """Args: plugin: the registered class; params: as the run gives them."""
        self.Params: type[BaseModel] = plugin.Params
        self.observation = plugin.observation
        self.action_space = plugin.action_space
        self.about = plugin.about
        self.privileged = plugin.privileged
        self._plugin = plugin
        self._params = params
        self._agent: Agent | None = None

    def reset(self, context: AgentContext) -> None:
        """See the port."""
        self._agent = self._plugin(self._plugin.Params.model_validate(dict(self._params)))
        self._agent.reset(context)

    def act(self, observation: Observation) -> Decision:
        """See the port."""
        if self._agent is None:
            raise RuntimeError("act() before reset()")
        return self._agent.act(observation)

    def close(self) -> None:
        """See the port."""
        if self._agent is not None:
            self._agent.close()
