"""`gui_model`: the action spaces of native GUI models, as they were trained to write them.

`_gui_formats.py` has the table of formats. A reply that is nothing but a place is a click there, as grounding models
answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from backend.domain.actions._blocks import TextActionSpace, text_of
from backend.domain.actions._checked import check_actions
from backend.domain.actions._gui_calls import GuiCall, tool_call
from backend.domain.actions._gui_formats import FORMATS, Range
from backend.domain.actions._gui_points import Size, bare_place, over_picture, smart_resize
from backend.domain.actions._gui_verbs import Screen, actions_of_call
from backend.domain.model.gui_formats import GuiFormat
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply
from backend.domain.registry import PluginKind, register

_QWEN_PIXELS = 28 * 28
_WORDS: Mapping[Range, str] = {
    "unit": "Coordinates run from 0 to 1 over the picture's width and height",
    "thousand": "Coordinates are whole numbers from 0 to 1000 over the picture's width and height",
    "resized": "Coordinates are pixels of the picture, which has {width}x{height} of them",
}


@register(PluginKind.ACTION_SPACE, "gui_model")
class GuiModelActions(TextActionSpace):
    """Parses calls in the format of one family. Places refer to the picture that the model was shown."""

    about = "What native GUI models write: UI-TARS, OS-Atlas, Aguvis, ShowUI, UGround, Qwen-VL; also WAIT, DONE, FAIL."

    class Params(Parameters):
        """Parameters of the `gui_model` action space."""

        format: GuiFormat = Field(default="ui_tars_1_5", description="Format in which the model writes actions.")
        coordinates: Literal["model", "unit", "thousand", "resized"] = Field(
            default="model",
            description=(
                "Range of coordinates: as the model was trained; 0 to 1; 0 to 1000; pixels of the picture as "
                "the model's server resizes it."
            ),
        )
        min_pixels: int = Field(
            default=4 * _QWEN_PIXELS,
            ge=_QWEN_PIXELS,
            description="Minimum pixels of a picture, as the server resizes it.",
        )
        max_pixels: int = Field(
            default=16384 * _QWEN_PIXELS,
            ge=_QWEN_PIXELS,
            description="Maximum pixels of a picture, as the server resizes it.",
        )

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()
        self._format = FORMATS[self.params.format]

    @property
    def _range(self) -> Range:
        own: Range = self._format.coordinates
        return own if self.params.coordinates == "model" else self.params.coordinates

    def instructions(self, sight: CoordinateFrame) -> str:
        lines = "\n".join(f"- {line}" for line in self._format.lines)
        return f"""{self._format.frame}

{lines}

{self._explain_coordinates(sight)}
Write WAIT, DONE or FAIL in place of an answer to wait, to say that the task is done, or that it cannot be done."""

    def place_instructions(self, sight: CoordinateFrame) -> str:
        return f"""Answer with the middle of the element and nothing else, for example
{self._format.place}
{self._explain_coordinates(sight)}"""

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port; docs/internals/actions.md lists the result of each malformed reply."""
        if isinstance(reply, str) or not reply.calls:
            return super().parse(reply, sight)
        text_of(reply)
        return self._actions([tool_call(call.name, call.arguments) for call in reply.calls], sight)

    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        point = bare_place(text)
        if point is not None:
            x, y = self._screen(sight).at(*point)
            return [Action(type=ActionType.CLICK, x=x, y=y)]
        return self._actions(self._format.read(text, self._format.verbs, self._format.example), sight)

    def _actions(self, calls: Sequence[GuiCall], sight: CoordinateFrame) -> tuple[Action, ...]:
        screen, verbs = self._screen(sight), self._format.verbs
        return check_actions(
            action
            for number, call in enumerate(calls, 1)
            for action in actions_of_call(call, verbs, screen, f"action {number}")
        )

    def _screen(self, sight: CoordinateFrame) -> Screen:
        return Screen(over_picture(self._extent(sight), sight), sight.screen.height)

    def _extent(self, sight: CoordinateFrame) -> Size:
        if self._range == "unit":
            return 1.0, 1.0
        if self._range == "thousand":
            return 1000.0, 1000.0
        size = sight.view or sight.screen
        return smart_resize(size.width, size.height, self.params.min_pixels, self.params.max_pixels)

    def _explain_coordinates(self, sight: CoordinateFrame) -> str:
        width, height = self._extent(sight)
        words = _WORDS[self._range].format(width=f"{width:g}", height=f"{height:g}")
        return f"{words}; the top left corner is (0, 0)."
