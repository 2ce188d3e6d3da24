"""Agent that is constructed in the agent's own thread, so that its constructor is subject to the same limits."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from backend.domain.model.trajectory import Decision, Observation
from backend.domain.ports.agent import Agent, AgentContext


class LazyAgent:
    """Constructs the plug-in's agent at the first reset. Any exception there is the agent's failure."""

    def __init__(self, plugin: type[Agent], params: Mapping[str, Any]) -> None:
        """Args: plugin: the registered class; params: as in the run."""
        self.Params: type[BaseModel] = plugin.Params
        self.observation = plugin.observation
        self.action_space = plugin.action_space
        self.about = plugin.about
        self.privileged = plugin.privileged
        self._plugin = plugin
        self._params = params
        self._agent: Agent | None = None

    def reset(self, context: AgentContext) -> None:
        self._agent = self._plugin(self._plugin.Params.model_validate(dict(self._params)))
        self._agent.reset(context)

    def act(self, observation: Observation) -> Decision:
        if self._agent is None:
            raise RuntimeError("act() was called before reset()")
        return self._agent.act(observation)

    def close(self) -> None:
        if self._agent is not None:
            self._agent.close()
