"""`container`: an agent in its own container beside the desktop; it uses the same REST API as `remote`."""

from pydantic import Field

from backend.domain.agents._outside import ChannelAgent
from backend.domain.model.parameters import Parameters
from backend.domain.registry import PluginKind, register


class ContainerParams(Parameters):
    """The container's image and what it may use."""

    image: str = Field(
        default="deskarena-agent",
        max_length=255,
        pattern=r"^[a-z0-9][A-Za-z0-9._/:@-]*$",
        description="Image in the container engine of the worker's machine; nothing is pulled.",
    )
    command: tuple[str, ...] = Field(
        default=(), max_length=64, description="Command and arguments instead of the image's own."
    )
    memory_mb: int = Field(default=2048, ge=64, le=65536, description="Memory in MiB; above it the agent is killed.")
    cpus: float = Field(default=1.0, gt=0, le=64, description="Processors.")


@register(PluginKind.AGENT, "container")
class Container(ChannelAgent):
    """Like `remote`; the worker starts the container and its channel (`worker.agents.containers`)."""

    Params = ContainerParams
    about = (
        "Your own agent as a container image. It starts beside each desktop and reaches nothing but the agents' API."
    )
