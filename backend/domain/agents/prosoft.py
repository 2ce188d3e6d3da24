"""`prosoft`: ProSoftArena's agent: Navi's answer format with rules for long work in professional software.

Source of its rules: ProSoftArena (protocols §5); the prompts are ours.
"""

from pydantic import Field

from backend.domain.agents._blocks import BlocksAgent, BlocksParams
from backend.domain.registry import PluginKind, register


class ProsoftParams(BlocksParams):
    """Parameters of `prosoft`; the defaults are ProSoftArena's sampling."""

    top_p: float | None = Field(
        default=0.8, gt=0, le=1, description="Nucleus sampling (top-p); null: the API's default."
    )


@register(PluginKind.AGENT, "prosoft")
class Prosoft(BlocksAgent):
    """Sees numbered elements, the screen and its accessibility tree, and counts its steps."""

    Params = ProsoftParams
    name = "prosoft"
    observation = "set_of_marks"
    observation_params = {"windows": True, "clipboard": True, "previous": True}  # noqa: RUF012 - read only.
    action_space = "prosoft"
    about = (
        "ProSoftArena's agent: like navi, with the accessibility tree, a step budget and rules against giving up early."
    )
    shows_tree = True
