"""`remote`: an agent that runs elsewhere and speaks REST (docs/bring-an-agent.md)."""

from pydantic import Field

from backend.domain.agents._outside import ChannelAgent
from backend.domain.model.parameters import Parameters
from backend.domain.registry import PluginKind, register


class RemoteParams(Parameters):
    """Empty: a remote agent is configured where it runs."""

    label: str = Field(
        default="", max_length=100, description="Name and version of your agent: leaderboards tell agents apart by it."
    )


@register(PluginKind.AGENT, "remote")
class Remote(ChannelAgent):
    """Started by its owner, who has an episode's token."""

    Params = RemoteParams
    about = "Your own program, wherever it runs: it fetches observations and posts actions with the episode's token."
