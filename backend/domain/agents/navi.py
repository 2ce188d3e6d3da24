"""`navi`: the agent of Windows Agent Arena: numbered elements, structured reasoning, then one block of code.

Source of its rules: Windows Agent Arena, arXiv 2409.08264, and its `mm_agents/navi`; the prompts are ours.
"""

import re
from collections.abc import Sequence

from pydantic import Field

from backend.domain.agents._asking import ModelAnswer
from backend.domain.agents._blocks import BlocksAgent, BlocksParams
from backend.domain.agents._describing import Describer, part_of
from backend.domain.agents._model_params import ModelParams
from backend.domain.agents._parts import call_of, with_calls
from backend.domain.agents._seen import text_layout
from backend.domain.model.model_calls import ModelPart
from backend.domain.model.trajectory import Decision, Frame, Mark, ModelCall, Observation
from backend.domain.ports.agent import AgentContext, CoordinateFrame
from backend.domain.ports.model import ModelReply
from backend.domain.registry import PluginKind, register

_COPIED = re.compile(r"copy_image\(\s*(?:id\s*=\s*)?['\"]?(\d{1,6})")
_DESCRIPTION = re.compile(r"copy_image\([^)\n]{0,300}description\s*=\s*(?:'([^'\n]{1,500})'|\"([^\"\n]{1,500})\")")


class NaviParams(BlocksParams):
    """Parameters of `navi`."""

    text_layout: bool = Field(
        default=True, description="Lays the text that OCR reads out roughly as on the screen, if OCR is a source."
    )
    describer_model: str = Field(
        default="",
        max_length=200,
        description="Model that describes icons and copied pictures; empty: no descriptions.",
    )
    describer_endpoint: str = Field(
        default="openai", max_length=100, description="Endpoint that serves it (docs/models.md)."
    )
    described_icons: int = Field(default=10, ge=0, le=50, description="Maximum icons without text described in a step.")


@register(PluginKind.AGENT, "navi")
class Navi(BlocksAgent):
    """One action per step, on numbered elements."""

    Params = NaviParams
    params: NaviParams
    name = "navi"
    observation = "waa"
    action_space = "computer"
    about = (
        "Windows Agent Arena's agent: reads numbered elements, answers questions about the screen, then acts in code."
    )

    def reset(self, context: AgentContext) -> None:
        """See the port. Raises ModelApiFailed if an endpoint cannot be used."""
        super().reset(context)
        params = self.params
        describer = ModelParams(model=params.describer_model, endpoint=params.describer_endpoint, temperature=0.0)
        self._describer = Describer(context, describer, self.name) if params.describer_model else None

    def begin(self) -> None:
        super().begin()
        self._calls: list[ModelCall] = []
        self._copied: Frame | None = None
        self._copied_words = ""

    def act(self, observation: Observation) -> Decision:
        """See the port. Icons without a text are described first, where a model is given for it."""
        self._calls = []
        if self._describer is not None and observation.frame is not None:
            marks = self._describe(self._describer, observation.frame, observation.marks or ())
            observation = observation.model_copy(update={"marks": marks if observation.marks is not None else None})
        return super().act(observation)

    def keep(self, observation: Observation, reply: ModelReply, decision: Decision) -> None:
        """Stores also which picture was copied, and how the model calls it."""
        super().keep(observation, reply, decision)
        code = "" if decision.invalid else "\n".join(action.text for action in decision.actions)
        if "copy_text" in code:
            self._copied, self._copied_words = None, ""
        if copied := _COPIED.search(code):
            mark = next((mark for mark in observation.marks or () if mark.id == int(copied[1])), None)
            self._copied = part_of(observation.frame, mark) if mark and observation.frame else None
            own = _DESCRIPTION.search(code)
            self._copied_words = (own[1] or own[2]) if own else ""

    def _read(self, answer: ModelAnswer, sight: CoordinateFrame) -> Decision:
        decision = super()._read(answer, sight)
        if not self._calls:
            return decision
        return with_calls(decision, (call_of(ModelPart.PLANNER, self.params, answer), *self._calls))

    def _describe(self, describer: Describer, frame: Frame, marks: Sequence[Mark]) -> tuple[Mark, ...]:
        """The marks, with texts of icons that had none; the copied picture is described as well."""
        bare = [mark for mark in marks if mark.kind in {"icon", "image"} and not (mark.text or mark.name)]
        bare = bare[: self.params.described_icons]
        parts = [part_of(frame, mark) for mark in bare]
        copied = [self._copied] if self._copied is not None else []
        words, call = describer.describe([*parts, *copied])
        self._calls += [call] if call else []
        self._copied_words = words.get(len(parts), self._copied_words) if copied else self._copied_words
        texts = {mark.id: words[index] for index, mark in enumerate(bare) if index in words}
        return tuple(mark.model_copy(update={"text": texts.get(mark.id, mark.text)}) for mark in marks)

    def _clipboard(self, observation: Observation) -> str:
        """Its text, else the words of the picture in it."""
        text = super()._clipboard(observation)
        return text or (f"a picture: {self._copied_words}" if self._copied_words else "")

    def _layout(self, observation: Observation, sight: CoordinateFrame) -> str:
        marks = observation.marks or ()
        reads = self.params.text_layout and any(mark.origin == "ocr" for mark in marks)
        return text_layout(marks, sight.screen, self.params.element_tokens) if reads else ""
