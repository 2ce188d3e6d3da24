"""`container`: an agent in its own container beside the desktop; it uses the same REST API as `remote`."""

from typing import Any

from pydantic import Field

from backend.domain.agents._outside import OutsideAgent
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register


class ContainerParams(Parameters):
    """The container's image and what it may use."""

    image: str = Field(
        default="deskarena-agent",
        max_length=255,
        pattern=r"^[a-z0-9][A-Za-z0-9._/:@-]*$",
        description="Image of the engine on the worker's machine; nothing is pulled.",
    )
    command: tuple[str, ...] = Field(
        default=(), max_length=64, description="Command and arguments instead of the image's own."
    )
    memory_mb: int = Field(default=2048, ge=64, le=65536, description="Memory in MiB; above it the agent is killed.")
    cpus: float = Field(default=1.0, gt=0, le=64, description="Processors.")


@register(PluginKind.AGENT, "container")
class Container:
    """Like `remote`; the worker starts the container and its channel (`worker.agents.containers`)."""

    Params = ContainerParams
    observation = "screenshot"
    action_space = "computer_13"
    about = "Your own agent as a container image, started beside each desktop with no network but the API for agents."
    privileged = False

    def __init__(self, params: Any) -> None:
        self.params = params
        self._outside: OutsideAgent | None = None

    def reset(self, context: AgentContext) -> None:
        """Takes the channel. Raises AgentFailed if this worker has none."""
        self._outside = OutsideAgent(context)

    def act(self, observation: Observation) -> Decision:
        """See the port. Raises AgentFailed when the container exits without an answer."""
        if self._outside is None:
            raise RuntimeError("act() before reset()")
        self._outside.offer(observation)
        return self._outside.answer(observation)

    def close(self) -> None:
        """Nothing to release: the channel belongs to the attempt, and the container to the channel."""
