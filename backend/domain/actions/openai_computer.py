"""`openai_computer`: the computer tool of OpenAI's Responses API, `computer` and the older `computer_use_preview`.

Actions and arguments are those of the API's reference. A call has one `action` or, for the newer tool, a list
`actions`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from backend.domain.actions._forms import Number, read, short
from backend.domain.actions._keys import combination, with_keys_down
from backend.domain.actions._points import in_picture
from backend.domain.actions._tool_calls import ENDING, actions_of, chord, dragged, of_pixels, typing, waits
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool, ToolCall
from backend.domain.registry import PluginKind, register

_NAMES = ("computer", "computer_use_preview", "computer_call")
_BUTTONS = {"left": "left", "right": "right", "wheel": "middle", "middle": "middle"}
_HISTORY = {"back": ("alt", "left"), "forward": ("alt", "right")}
_MOST_KEYS = 10


def _pair(value: Any) -> Any:
    """A path's point is `{x, y}`; lists of two numbers are accepted as well."""
    return (value.get("x"), value.get("y")) if isinstance(value, dict) else value


Keys = Annotated[tuple[str, ...], Field(max_length=_MOST_KEYS)]


class _Nothing(Parameters):
    pass


class _At(Parameters):
    x: Number
    y: Number
    keys: Keys = ()


class _Click(_At):
    button: Literal["left", "right", "wheel", "middle", "back", "forward"] = "left"


class _Drag(Parameters):
    path: tuple[Annotated[tuple[Number, Number], BeforeValidator(_pair)], ...] = Field(min_length=2)
    keys: Keys = ()


class _Keypress(Parameters):
    keys: tuple[str, ...] = Field(min_length=1, max_length=_MOST_KEYS)


class _Scroll(_At):
    scroll_x: Number = 0.0
    scroll_y: Number = 0.0


class _Text(Parameters):
    text: str


class _Wait(Parameters):
    duration: Number = 0.0
    ms: Number = 0.0


def _names(keys: Sequence[str], path: str) -> tuple[str, ...]:
    return tuple(key for name in keys for key in combination(name, f"{path}.keys"))


class _Reader:
    """Reads one action at a known position of the reply."""

    def __init__(self, sight: CoordinateFrame, path: str) -> None:
        self.path = path
        self._sight = sight

    def at(self, args: _At) -> dict[str, int]:
        x, y = in_picture(args.x, args.y, self._sight)
        return {"x": x, "y": y}

    def click(self, args: _Click) -> Sequence[Action]:
        if args.button in _HISTORY:
            return [Action(type=ActionType.HOTKEY, keys=_HISTORY[args.button])]
        action = Action(type=ActionType.CLICK, button=_BUTTONS[args.button], **self.at(args))
        return with_keys_down(_names(args.keys, self.path), [action])

    def double_click(self, args: _At) -> Sequence[Action]:
        return with_keys_down(_names(args.keys, self.path), [Action(type=ActionType.CLICK, clicks=2, **self.at(args))])

    def drag(self, args: _Drag) -> Sequence[Action]:
        path = [in_picture(x, y, self._sight) for x, y in args.path]
        return with_keys_down(_names(args.keys, self.path), dragged(path))

    def keypress(self, args: _Keypress) -> Sequence[Action]:
        return chord(_names(args.keys, self.path))

    def move(self, args: _At) -> Sequence[Action]:
        return with_keys_down(_names(args.keys, self.path), [Action(type=ActionType.MOVE_TO, **self.at(args))])

    def scroll(self, args: _Scroll) -> Sequence[Action]:
        turn = {"dx": of_pixels(args.scroll_x), "dy": -of_pixels(args.scroll_y)}
        return with_keys_down(_names(args.keys, self.path), [Action(type=ActionType.SCROLL, **turn, **self.at(args))])


_FORMS: Mapping[str, tuple[type[Parameters], Callable[[_Reader, Any], Sequence[Action]]]] = {
    "click": (_Click, _Reader.click),
    "double_click": (_At, _Reader.double_click),
    "drag": (_Drag, _Reader.drag),
    "keypress": (_Keypress, _Reader.keypress),
    "move": (_At, _Reader.move),
    "screenshot": (_Nothing, lambda *_: waits("screenshot")),
    "scroll": (_Scroll, _Reader.scroll),
    "type": (_Text, lambda _, p: typing(p.text)),
    "wait": (_Wait, lambda *_: waits("wait")),
}


@register(PluginKind.ACTION_SPACE, "openai_computer")
class OpenAIComputer:
    """Parses computer calls. Points and scroll distances are in pixels of the picture that the model was shown."""

    about = "OpenAI's computer tool of the Responses API; DONE and FAIL as words."

    class Params(Parameters):
        """Parameters of the `openai_computer` action space."""

        tool: Literal["computer", "computer_use_preview"] = Field(
            default="computer",
            description="Tool offered; computer-use-preview models know only the older one.",
        )

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        return f"""Act with the computer tool on a {sight.platform} desktop. A screenshot follows every call.
{ENDING}"""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:
        """The vendor's own tool; the older version includes the size of the picture."""
        vendor: dict[str, Any] = {"type": self.params.tool}
        if self.params.tool == "computer_use_preview":
            size = sight.view or sight.screen
            vendor |= {"display_width": size.width, "display_height": size.height}
            vendor["environment"] = "windows" if sight.platform == "Windows" else "linux"
        return (Tool(name=self.params.tool, vendor=vendor),)

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port; docs/internals/actions.md lists the result of each malformed reply."""

        def read_call(call: ToolCall, path: str) -> Sequence[Action]:
            if call.name not in _NAMES:
                raise InvalidAction(
                    f"there is no tool {short(call.name)}", code="unknown_action", path=path, hint="Call computer."
                )
            return [
                action
                for raw_action, where in _call_actions(call, path)
                for action in _actions(raw_action, sight, where)
            ]

        return actions_of(reply, "the computer tool", read_call)


def _call_actions(call: ToolCall, path: str) -> Sequence[tuple[Any, str]]:
    """The actions of a call, each with its position: `actions`, `action`, or the arguments themselves."""
    several = call.arguments.get("actions")
    if isinstance(several, list | tuple) and several:
        return [(action, f"{path}.actions.{number}") for number, action in enumerate(several)]
    return [(call.arguments.get("action", call.arguments), path)]


def _actions(raw_action: Any, sight: CoordinateFrame, path: str) -> Sequence[Action]:
    name = raw_action.get("type") if isinstance(raw_action, Mapping) else None
    if not isinstance(name, str) or name not in _FORMS:
        raise InvalidAction(
            f"there is no action {short(name)}",
            code="unknown_action",
            path=f"{path}.type",
            hint=f"Known: {', '.join(_FORMS)}.",
        )
    form, build = _FORMS[name]
    arguments = {key: value for key, value in raw_action.items() if key != "type"}
    return build(_Reader(sight, path), read(form, arguments, path))
