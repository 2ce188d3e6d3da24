"""`navi`: the agent of Windows Agent Arena: numbered elements, structured reasoning, then one block of code.

Source of its rules: Windows Agent Arena, arXiv 2409.08264, and its `mm_agents/navi`; the prompts are ours.
"""

from backend.domain.agents._blocks import BlocksAgent, BlocksParams
from backend.domain.registry import PluginKind, register


@register(PluginKind.AGENT, "navi")
class Navi(BlocksAgent):
    """One action per step, on numbered elements."""

    Params = BlocksParams
    name = "navi"
    observation = "waa"
    action_space = "computer"
    about = (
        "Windows Agent Arena's agent: reads numbered elements, answers questions about the screen, then acts by code."
    )
