"""`gemini_computer`: the computer use tool of Google's Gemini API.

Functions follow the documentation: the desktop and browser environments (Gemini 3.5 and later) and the older names
(Gemini 2.5 and 3 Flash). Coordinates run from 0 to 999 over the picture that the model was shown.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from backend.domain.actions._forms import Number, read, short
from backend.domain.actions._keys import combination, key_of, press
from backend.domain.actions._points import in_picture, on_grid
from backend.domain.actions._tool_calls import (
    ENDING,
    PIXELS_PER_CLICK,
    actions_of,
    chord,
    dragged,
    of_pixels,
    scrolled,
    typing,
    waits,
    wheel_clicks,
    with_reason,
)
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool, ToolCall
from backend.domain.registry import PluginKind, register

_GRID = 1000.0
_PAGE_CLICKS = 5
_MOST_KEYS = 10
_REFUSED = frozenset({"open_web_browser", "search", "navigate", "open_app", "list_apps", "long_press"})
_DROPPED = frozenset({"intent", "safety_decision"})
Share = Annotated[float, Field(ge=0, le=_GRID, allow_inf_nan=False)]
Direction = Literal["up", "down", "left", "right"]


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, str) and value else value


class _Nothing(Parameters):
    pass


class _At(Parameters):
    x: Share
    y: Share


class _TypeAt(_At):
    text: str
    press_enter: bool = True
    clear_before_typing: bool = True


class _Type(Parameters):
    text: str
    press_enter: bool = False


class _Drag(Parameters):
    x: Share = Field(validation_alias=AliasChoices("start_x", "x"))
    y: Share = Field(validation_alias=AliasChoices("start_y", "y"))
    to_x: Share = Field(validation_alias=AliasChoices("end_x", "destination_x"))
    to_y: Share = Field(validation_alias=AliasChoices("end_y", "destination_y"))


class _Key(Parameters):
    key: str = Field(min_length=1)


class _Keys(Parameters):
    keys: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = Field(min_length=1, max_length=_MOST_KEYS)


class _ScrollPage(Parameters):
    direction: Direction


class _ScrollAt(_At):
    direction: Direction
    magnitude: Share = 800.0


class _Scroll(_At):
    direction: Direction
    magnitude_in_pixels: Number | None = None
    magnitude_in_wheel_clicks: Number | None = None


class _Wait(Parameters):
    seconds: Number = 1.0


class _Reader:
    """Reads one call at a known position of the reply."""

    def __init__(self, sight: CoordinateFrame, path: str) -> None:
        self.path = path
        self._sight = sight

    def pixels(self, x: float, y: float) -> tuple[int, int]:
        view = self._sight.view
        if view is None:
            return on_grid(x, y, _GRID, self._sight)
        return in_picture(x / _GRID * view.width, y / _GRID * view.height, self._sight)

    def pointed(self, kind: ActionType, args: _At, **more: Any) -> Action:
        x, y = self.pixels(args.x, args.y)
        return Action(type=kind, x=x, y=y, **more)

    def type_at(self, args: _TypeAt) -> list[Action]:
        clear = [press(("ctrl", "a")), press(("delete",))] if args.clear_before_typing else []
        enter = [press(("enter",))] if args.press_enter else []
        return [
            self.pointed(ActionType.CLICK, args),
            *clear,
            *typing(args.text),
            *enter,
        ]

    def type_text(self, args: _Type) -> list[Action]:
        return [*typing(args.text), *([press(("enter",))] if args.press_enter else [])]

    def drag(self, args: _Drag) -> list[Action]:
        return dragged([self.pixels(args.x, args.y), self.pixels(args.to_x, args.to_y)])

    def key(self, args: _Key) -> list[Action]:
        return chord(combination(args.key, self.path))

    def keys(self, args: _Keys) -> list[Action]:
        return chord([key for name in args.keys for key in combination(name, f"{self.path}.keys")])

    def hold(self, kind: ActionType, args: _Key) -> list[Action]:
        return [Action(type=kind, keys=(key_of(args.key, f"{self.path}.key"),))]

    def page(self, args: _ScrollPage) -> list[Action]:
        if args.direction in {"up", "down"}:
            return [press((f"page{args.direction}",))]
        return [scrolled(args.direction, _PAGE_CLICKS, None)]

    def scroll_at(self, args: _ScrollAt) -> list[Action]:
        screen = self._sight.screen
        length = screen.height if args.direction in {"up", "down"} else screen.width
        clicks = of_pixels(args.magnitude / _GRID * length)
        return [scrolled(args.direction, clicks, self.pixels(args.x, args.y))]

    def scroll(self, args: _Scroll) -> list[Action]:
        if args.magnitude_in_wheel_clicks is not None:
            clicks = wheel_clicks(args.magnitude_in_wheel_clicks, self.path)
        else:
            clicks = of_pixels(3.0 * PIXELS_PER_CLICK if args.magnitude_in_pixels is None else args.magnitude_in_pixels)
        return [scrolled(args.direction, clicks, self.pixels(args.x, args.y))]


Build = Callable[[_Reader, Any], Sequence[Action]]


def _pointer(kind: ActionType, **more: Any) -> tuple[type[Parameters], Build]:
    return _At, lambda reader, args: [reader.pointed(kind, args, **more)]


def _fixed_call(*keys: str) -> tuple[type[Parameters], Build]:
    return _Nothing, lambda *_: [press(keys)]


_FORMS: Mapping[str, tuple[type[Parameters], Build]] = {
    "click": _pointer(ActionType.CLICK),
    "click_at": _pointer(ActionType.CLICK),
    "double_click": _pointer(ActionType.CLICK, clicks=2),
    "triple_click": _pointer(ActionType.CLICK, clicks=3),
    "middle_click": _pointer(ActionType.CLICK, button="middle"),
    "right_click": _pointer(ActionType.CLICK, button="right"),
    "mouse_down": _pointer(ActionType.MOUSE_DOWN),
    "mouse_up": _pointer(ActionType.MOUSE_UP),
    "move": _pointer(ActionType.MOVE_TO),
    "hover_at": _pointer(ActionType.MOVE_TO),
    "type": (_Type, _Reader.type_text),
    "type_text_at": (_TypeAt, _Reader.type_at),
    "drag_and_drop": (_Drag, _Reader.drag),
    "press_key": (_Key, _Reader.key),
    "key_down": (_Key, lambda r, p: r.hold(ActionType.KEY_DOWN, p)),
    "key_up": (_Key, lambda r, p: r.hold(ActionType.KEY_UP, p)),
    "hotkey": (_Keys, _Reader.keys),
    "key_combination": (_Keys, _Reader.keys),
    "scroll": (_Scroll, _Reader.scroll),
    "scroll_at": (_ScrollAt, _Reader.scroll_at),
    "scroll_document": (_ScrollPage, _Reader.page),
    "go_back": _fixed_call("alt", "left"),
    "go_forward": _fixed_call("alt", "right"),
    "wait": (_Wait, lambda *_: waits("wait")),
    "wait_5_seconds": (_Nothing, lambda *_: waits("wait")),
    "take_screenshot": (_Nothing, lambda *_: waits("screenshot")),
}


@register(PluginKind.ACTION_SPACE, "gemini_computer")
class GeminiComputer:
    """Parses calls of the tool's functions. Refuses functions that only a dedicated browser could perform."""

    about = "Google Gemini's computer use functions, for desktop and browser; DONE and FAIL as words."

    class Params(Parameters):
        """Parameters of the `gemini_computer` action space."""

        environment: Literal["desktop", "browser"] = Field(
            default="desktop",
            description="Environment named to the tool; models before Gemini 3.5 know only the browser.",
        )

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        return f"""Act with the computer use functions on a whole {sight.platform} desktop. A screenshot follows every
call. There is no browser but the desktop's own: open it and type addresses as a person does.
{ENDING}"""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:  # noqa: ARG002
        """The vendor's own tool, without the refused functions."""
        vendor: dict[str, Any] = {"environment": f"ENVIRONMENT_{self.params.environment.upper()}"}
        if self.params.environment == "browser":
            vendor["excludedPredefinedFunctions"] = ["navigate", "open_web_browser", "search"]
        return (Tool(name="computer_use", vendor={"computerUse": vendor}),)

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port; docs/internals/actions.md lists the result of each malformed reply."""

        def read_call(call: ToolCall, path: str) -> Sequence[Action]:
            if call.name in _REFUSED:
                hint = "Open the desktop's own browser and type the address as a person does."
                raise InvalidAction(
                    f"{call.name} does nothing on this desktop", code="action_not_supported", path=path, hint=hint
                )
            if call.name not in _FORMS:
                raise InvalidAction(
                    f"there is no function {short(call.name)}",
                    code="unknown_action",
                    path=path,
                    hint=f"Known: {', '.join(_FORMS)}.",
                )
            form, build = _FORMS[call.name]
            arguments = {key: value for key, value in call.arguments.items() if key not in _DROPPED}
            return with_reason(build(_Reader(sight, path), read(form, arguments, path)), _intent(call))

        return actions_of(reply, "a computer use function", read_call)


def _intent(call: ToolCall) -> str:
    intent = call.arguments.get("intent")
    return intent if isinstance(intent, str) else ""
