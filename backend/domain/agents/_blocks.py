"""Base of agents that answer in blocks (```decision, ```python, ```memory), as WAA's Navi does.

Each step is one request. Earlier steps are represented by a memory that the model maintains, the code it wrote and the
previous screen. Source: Windows Agent Arena, arXiv 2409.08264, and its `mm_agents/navi`.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from backend.domain.agents._messages import message
from backend.domain.agents._model_agent import ModelAgent
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._pictures import fit
from backend.domain.agents._seen import elements, titles, tree_text
from backend.domain.model.trajectory import Decision, Frame, Observation
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import Message, MessagePart, ModelReply
from backend.domain.screen.image import in_view

_MEMORY = re.compile(r"```memory[ \t]*\n(.*?)```", re.DOTALL)
_CODE = re.compile(r"```python[ \t]*\n(.*?)```", re.DOTALL)
MOST_MEMORY = 20_000
MOST_CLIPBOARD = 10_000


class BlocksParams(ModelParams):
    """Parameters of block agents."""

    max_tokens: int | None = Field(default=4096, ge=16, le=200_000, description="Longest answer, in tokens.")
    n_prev: int = Field(default=15, ge=0, le=1000, description="Number of earlier actions listed, newest first.")
    use_last_screen: bool = Field(default=True, description="Also shows the screenshot of the previous step.")
    raw_screen: bool = Field(default=True, description="Also shows the screenshot without marks.")
    element_tokens: int = Field(
        default=10_000, ge=100, description="Length at which the list of elements is cut, in estimated tokens."
    )


class BlocksAgent(ModelAgent):
    """Sends one request per step, with up to three pictures."""

    params: BlocksParams
    shows_tree = False

    def begin(self) -> None:
        self._memory = ""
        self._done: list[str] = []
        self._last: Frame | None = None

    def messages(self, observation: Observation, sight: CoordinateFrame, excluded: int) -> Sequence[Message] | None:
        """The request. Dropped first, in this order: the previous screen, all earlier actions, the tree."""
        if excluded > 3:  # noqa: PLR2004 - the three named above
            return None
        question = self._question(observation, sight, actions=excluded < 2, tree=self.shows_tree and excluded < 3)  # noqa: PLR2004
        return [
            message("system", self.prompt("system", actions=self.instructions(sight), platform=sight.platform)),
            message("user", question, *self._pictures(observation, earlier=excluded < 1)),
        ]

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:
        """Stores the model's latest memory and what it did."""
        match = _MEMORY.search(reply.text)
        self._memory = match.group(1).strip()[:MOST_MEMORY] if match else self._memory
        code = _CODE.search(reply.text)
        done = code.group(1).strip() if code else ", ".join(action.type for action in decision.actions)
        self._done.append(done[:MOST_MEMORY] or "nothing")
        self._done = self._done[-max(self.params.n_prev, 1) :]
        self._last = observation.frame or observation.picture

    def _question(self, observation: Observation, sight: CoordinateFrame, *, actions: bool, tree: bool) -> str:
        context, number = self.active_context, observation.index
        done = self._done[::-1][: self.params.n_prev] if actions else []
        limit = self.params.element_tokens
        front, others = titles(observation.windows or ())
        return self.prompt(
            "step",
            instruction=context.instruction,
            note=observation.note,
            step=number + 1,
            steps=context.max_steps,
            left=max(0, context.max_steps - number),
            front=front,
            others=others,
            clipboard=self._clipboard(observation),
            layout=self._layout(observation, sight),
            memory=self._memory,
            done=done,
            elements=elements(observation.marks or (), sight.screen, limit),
            tree=tree_text(observation.a11y_tree, sight, limit) if tree and observation.a11y_tree else "",
            earlier=self._earlier(observation) is not None,
        )

    def _clipboard(self, observation: Observation) -> str:
        return (observation.clipboard or "")[:MOST_CLIPBOARD]

    def _layout(self, observation: Observation, sight: CoordinateFrame) -> str:  # noqa: ARG002
        """The screen's text, roughly where it stands; empty for agents that are not shown it."""
        return ""

    def _earlier(self, observation: Observation) -> Frame | None:
        return (observation.previous or self._last) if self.params.use_last_screen else None

    def _pictures(self, observation: Observation, *, earlier: bool) -> list[str | Frame | MessagePart | None]:
        """Each picture after its name, so that the model does not confuse them."""
        before = self._earlier(observation) if earlier else None
        marked = observation.agent_view
        raw = observation.frame if self.params.raw_screen or marked is None else None
        if raw is not None and marked is not None:
            raw = in_view(raw, observation.view)  # Same size as the marked picture, so that they overlay.
        named = (
            ("The screen before the last action:", before),
            ("The screen now:", raw),
            ("With its elements numbered:", marked),
        )
        parts: list[str | Frame | MessagePart | None] = []
        for words, picture in named:
            if picture is not None:
                parts += [words, fit(picture)]
        return parts
