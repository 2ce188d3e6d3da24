"""`anthropic_computer`: Anthropic's computer toolset (20260801) and its predecessors (20241022 to 20251124).

Actions and arguments follow the documentation; keys are xdotool's. A call of the toolset has the action's name; a call
of an older tool is named `computer` and has the action as an argument.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from backend.domain.actions._forms import Number, read, short
from backend.domain.actions._keys import combination, press, strokes, with_keys_down
from backend.domain.actions._points import in_picture
from backend.domain.actions._tool_calls import ENDING, actions_of, scrolled, typing, waits, wheel_clicks
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CallOutcome, CallResult, CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool, ToolCall
from backend.domain.registry import PluginKind, register
from backend.domain.screen.pictures import enlarge

_NAME = "computer"
_POINTER = "import pyautogui; print(*pyautogui.position())"
_LONGEST_HOLD = 20.0  # Seconds; code on the desktop may run for at most 30.
Point = tuple[Number, Number]
Pixels = tuple[int, int] | None


class _Nothing(Parameters):
    pass


class _At(Parameters):
    coordinate: Point


class _MaybeAt(Parameters):
    coordinate: Point | None = None


class _Click(_MaybeAt):
    text: str | None = None


class _Drag(Parameters):
    coordinate: Point
    start_coordinate: Point | None = None
    text: str | None = None


class _Text(Parameters):
    text: str


class _Key(Parameters):
    text: str = Field(min_length=1, max_length=1_000)
    repeat: int = Field(default=1, ge=1, le=100)


class _Hold(Parameters):
    text: str = Field(min_length=1, max_length=1_000)
    duration: float = Field(gt=0, le=_LONGEST_HOLD)


class _Scroll(Parameters):
    coordinate: Point | None = None
    scroll_direction: Literal["up", "down", "left", "right"]
    scroll_amount: float = Field(ge=0, allow_inf_nan=False)
    text: str | None = None


class _Wait(Parameters):
    duration: float = Field(default=1.0, ge=0, le=300)


class _Zoom(Parameters):
    region: tuple[Number, Number, Number, Number]


def _pointer_action(kind: ActionType, at: Pixels, **more: Any) -> Action:
    return Action(type=kind, x=at[0] if at else None, y=at[1] if at else None, **more)


def _click(button: str, clicks: int) -> Callable[[_Click, "_Reader"], Sequence[Action]]:
    def build(args: _Click, reader: "_Reader") -> Sequence[Action]:
        action = _pointer_action(ActionType.CLICK, reader.at(args.coordinate), button=button, clicks=clicks)
        return reader.with_keys(args.text, [action])

    return build


def _drag(args: _Drag, reader: "_Reader") -> Sequence[Action]:
    start = reader.at(args.start_coordinate)
    actions = [_pointer_action(ActionType.MOVE_TO, start)] if start else []
    return reader.with_keys(args.text, [*actions, _pointer_action(ActionType.DRAG_TO, reader.at(args.coordinate))])


def _scroll(args: _Scroll, reader: "_Reader") -> Sequence[Action]:
    clicks = wheel_clicks(args.scroll_amount, f"{reader.path}.scroll_amount")
    return reader.with_keys(args.text, [scrolled(args.scroll_direction, clicks, reader.at(args.coordinate))])


def _key(args: _Key, reader: "_Reader") -> Sequence[Action]:
    return [press(keys) for keys in strokes(args.text, f"{reader.path}.text")] * args.repeat


def _hold(args: _Hold, reader: "_Reader") -> Sequence[Action]:
    pause = Action(type=ActionType.PYTHON, text=f"import time; time.sleep({args.duration!r})")
    return with_keys_down(reader.keys(args.text), [pause])


def _zoom(args: _Zoom, reader: "_Reader") -> Sequence[Action]:
    return waits("zoom " + " ".join(map(str, reader.region(args.region))))


def _position(_: _Nothing, __: "_Reader") -> Sequence[Action]:
    return [Action(type=ActionType.PYTHON, text=_POINTER, note="cursor_position")]


_FORMS: Mapping[str, tuple[type[Parameters], Callable[[Any, "_Reader"], Sequence[Action]]]] = {
    "key": (_Key, _key),
    "hold_key": (_Hold, _hold),
    "type": (_Text, lambda p, _: typing(p.text)),
    "mouse_move": (_At, lambda p, r: [_pointer_action(ActionType.MOVE_TO, r.at(p.coordinate))]),
    "left_click": (_Click, _click("left", 1)),
    "right_click": (_Click, _click("right", 1)),
    "middle_click": (_Click, _click("middle", 1)),
    "double_click": (_Click, _click("left", 2)),
    "triple_click": (_Click, _click("left", 3)),
    "left_click_drag": (_Drag, _drag),
    "left_mouse_down": (_MaybeAt, lambda p, r: [_pointer_action(ActionType.MOUSE_DOWN, r.at(p.coordinate))]),
    "left_mouse_up": (_MaybeAt, lambda p, r: [_pointer_action(ActionType.MOUSE_UP, r.at(p.coordinate))]),
    "scroll": (_Scroll, _scroll),
    "wait": (_Wait, lambda *_: waits("wait")),
    "screenshot": (_Nothing, lambda *_: waits("screenshot")),
    "cursor_position": (_Nothing, _position),
    "zoom": (_Zoom, _zoom),
}


class _Reader:
    """Reads one call at a known position of the reply."""

    def __init__(self, sight: CoordinateFrame, path: str) -> None:
        self.path = path
        self._sight = sight

    def at(self, point: Point | None) -> Pixels:
        return in_picture(*point, self._sight) if point else None

    def region(self, sides: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
        """The part of the screen under a part of the picture; right and bottom are excluded."""
        left, top, right, bottom = sides
        size = self._sight.view or self._sight.screen
        if not (0 <= left < right <= size.width and 0 <= top < bottom <= size.height):
            raise InvalidAction(
                f"the region {short(list(sides))} is not a part of the picture of {size.width}x{size.height}",
                code="point_out_of_range",
                path=f"{self.path}.region",
                hint="It is x and y of its top left corner, then of its bottom right corner.",
            )
        (x, y), (to_x, to_y) = in_picture(left, top, self._sight), in_picture(right, bottom, self._sight)
        x, y = min(max(x, 0), self._sight.screen.width - 1), min(max(y, 0), self._sight.screen.height - 1)
        to_x, to_y = min(to_x, self._sight.screen.width), min(to_y, self._sight.screen.height)
        return x, y, max(to_x, x + 1), max(to_y, y + 1)

    def keys(self, text: str) -> tuple[str, ...]:
        return combination(text, f"{self.path}.text")

    def with_keys(self, text: str | None, actions: Sequence[Action]) -> Sequence[Action]:
        return with_keys_down(self.keys(text), actions) if text else actions


@register(PluginKind.ACTION_SPACE, "anthropic_computer")
class AnthropicComputer:
    """Parses calls of the tools. Coordinates are pixels of the picture that the model was shown."""

    about = "Anthropic's computer toolset and older computer tools; DONE and FAIL as words."

    class Params(Parameters):
        """Parameters of the `anthropic_computer` action space."""

        version: Literal["20241022", "20250124", "20251124", "20260801"] = Field(
            default="20260801",
            description="Tool version offered; the vendor's documentation says which one a model accepts.",
        )
        zoom: bool = Field(default=False, description="Offer the action zoom (since 20251124).")

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        return f"""Act with the computer tools on a {sight.platform} desktop. A screenshot follows every turn.
{ENDING}"""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:
        """The vendor's own tool; older versions include the size of the picture."""
        version = self.params.version
        zoom: dict[str, Any]
        if version == "20260801":
            zoom = {} if self.params.zoom else {"configs": {"zoom": {"enabled": False}}}
            return (Tool(name=_NAME, vendor={"type": f"computer_toolset_{version}", **zoom}),)
        size = sight.view or sight.screen
        display = {"display_width_px": size.width, "display_height_px": size.height}
        zoom = {"enable_zoom": True} if self.params.zoom and version == "20251124" else {}
        return (Tool(name=_NAME, vendor={"type": f"computer_{version}", "name": _NAME, **display, **zoom}),)

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port; docs/internals/actions.md lists the result of each malformed reply."""

        def read_call(call: ToolCall, path: str) -> Sequence[Action]:
            name, arguments = _call_parts(call)
            if not isinstance(name, str) or name not in _FORMS or (name == "zoom" and not self.params.zoom):
                hint = f"Known: {', '.join(_FORMS)}."
                raise InvalidAction(f"there is no action {short(name)}", code="unknown_action", path=path, hint=hint)
            form, build = _FORMS[name]
            return build(read(form, arguments, path), _Reader(sight, path))

        return actions_of(reply, f"the tool {_NAME}", read_call)

    def result(self, call: ToolCall, outcome: CallOutcome) -> CallResult | None:
        """See the port: the part of the screen that `zoom` asks for, and the pointer's place."""
        name, arguments = _call_parts(call)
        if name == "cursor_position":
            return _pointer(outcome)
        if name != "zoom" or outcome.frame is None:
            return None
        region = _Reader(outcome.sight, "").region(read(_Zoom, arguments).region)
        size = outcome.sight.view or outcome.sight.screen
        picture = enlarge(outcome.frame, region, size.width, size.height)
        return CallResult(text="The region, enlarged.", picture=picture)


def _call_parts(call: ToolCall) -> tuple[Any, dict[str, Any]]:
    """The action of a call, and its arguments."""
    arguments = dict(call.arguments)
    return arguments.pop("action", None) if call.name == _NAME else call.name, arguments


def _pointer(outcome: CallOutcome) -> CallResult:
    """The pointer's place in the picture that the model was shown."""
    words = str(outcome.results[0].get("output", "")).split() if outcome.results else []
    if len(words) != 2 or not all(word.isdecimal() for word in words):  # noqa: PLR2004 - x and y.
        return CallResult(text="The pointer's position could not be read.", failed=True)
    x, y = map(int, words)
    if outcome.sight.view:
        x, y = map(math.floor, outcome.sight.view.from_screen(x, y))
    return CallResult(text=f"X={x},Y={y}")
