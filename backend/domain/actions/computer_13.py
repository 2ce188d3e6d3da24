"""`computer_13`: OSWorld's thirteen mouse and keyboard actions as JSON, with WAIT, DONE and FAIL.

Both upstream forms are read: `{"action_type": "CLICK", "x": 1, "y": 2}` and the same with `"parameters": {...}`.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from backend.domain.actions._json import json_blocks
from backend.domain.errors import Invalid
from backend.domain.parameters import Parameters
from backend.domain.ports_agent import Sight
from backend.domain.ports_model import ModelReply, Tool
from backend.domain.registry import Kind, register
from backend.domain.trajectory import Action, ActionType

_BARE = frozenset({"WAIT", "DONE", "FAIL"})


class _Nothing(Parameters):
    pass


Number = Annotated[float, Field(allow_inf_nan=False)]


class _Point(Parameters):
    x: Number
    y: Number


class _MaybePoint(Parameters):
    x: Number | None = None
    y: Number | None = None


class _Click(_MaybePoint):
    button: str = Field(default="left", pattern="^(left|right|middle)$")
    num_clicks: int = Field(default=1, ge=1, le=3)


class _Button(Parameters):
    button: str = Field(default="left", pattern="^(left|right|middle)$")


class _Scroll(Parameters):
    dx: int = 0
    dy: int = 0


class _Typing(Parameters):
    text: str = Field(min_length=1)


class _Key(Parameters):
    key: str = Field(min_length=1)


class _Keys(Parameters):
    keys: tuple[str, ...] = Field(min_length=1)


def _pixels(value: _Point | _MaybePoint) -> dict[str, int | None]:
    return {"x": None if value.x is None else round(value.x), "y": None if value.y is None else round(value.y)}


_FORMS: Mapping[str, tuple[type[Parameters], Callable[[Any], Action]]] = {
    "MOVE_TO": (_Point, lambda p: Action(type=ActionType.MOVE_TO, **_pixels(p))),
    "CLICK": (_Click, lambda p: Action(type=ActionType.CLICK, button=p.button, clicks=p.num_clicks, **_pixels(p))),
    "MOUSE_DOWN": (_Button, lambda p: Action(type=ActionType.MOUSE_DOWN, button=p.button)),
    "MOUSE_UP": (_Button, lambda p: Action(type=ActionType.MOUSE_UP, button=p.button)),
    "RIGHT_CLICK": (_MaybePoint, lambda p: Action(type=ActionType.CLICK, button="right", **_pixels(p))),
    "DOUBLE_CLICK": (_MaybePoint, lambda p: Action(type=ActionType.CLICK, clicks=2, **_pixels(p))),
    "DRAG_TO": (_Point, lambda p: Action(type=ActionType.DRAG_TO, **_pixels(p))),
    "SCROLL": (_Scroll, lambda p: Action(type=ActionType.SCROLL, dx=p.dx, dy=p.dy)),
    "TYPING": (_Typing, lambda p: Action(type=ActionType.TYPING, text=p.text)),
    "PRESS": (_Key, lambda p: Action(type=ActionType.PRESS, keys=(p.key,))),
    "KEY_DOWN": (_Key, lambda p: Action(type=ActionType.KEY_DOWN, keys=(p.key,))),
    "KEY_UP": (_Key, lambda p: Action(type=ActionType.KEY_UP, keys=(p.key,))),
    "HOTKEY": (_Keys, lambda p: Action(type=ActionType.HOTKEY, keys=p.keys)),
    "WAIT": (_Nothing, lambda _: Action(type=ActionType.WAIT)),
    "DONE": (_Nothing, lambda _: Action(type=ActionType.DONE)),
    "FAIL": (_Nothing, lambda _: Action(type=ActionType.FAIL)),
}


_LINES = (
    '{"action_type": "MOVE_TO", "x": 10, "y": 20}',
    '{"action_type": "CLICK", "x": 10, "y": 20, "button": "left", "num_clicks": 1}; all but the type may be left out',
    '{"action_type": "MOUSE_DOWN", "button": "left"}, {"action_type": "MOUSE_UP", "button": "left"}',
    '{"action_type": "RIGHT_CLICK", "x": 10, "y": 20}, {"action_type": "DOUBLE_CLICK", "x": 10, "y": 20}',
    '{"action_type": "DRAG_TO", "x": 10, "y": 20}, from where the pointer is, with the left button',
    '{"action_type": "SCROLL", "dx": 0, "dy": -5}; negative dy scrolls down',
    '{"action_type": "TYPING", "text": "words"}',
    '{"action_type": "PRESS", "key": "enter"}, KEY_DOWN and KEY_UP likewise',
    '{"action_type": "HOTKEY", "keys": ["ctrl", "s"]}',
)


@register(Kind.ACTION_SPACE, "computer_13")
class Computer13:
    """Parses what a model wrote into typed actions. Whether a point lies on the screen is the loop's question."""

    about = "Thirteen mouse and keyboard actions as JSON, WAIT, DONE and FAIL."
    Params = Parameters

    def __init__(self, params: Any = None) -> None:
        self.params = params

    def instructions(self, sight: Sight) -> str:
        """See the port."""
        lines = "\n".join(f"- {line}" for line in _LINES)
        return f"""Answer with one JSON object per action, each in a ```json block of its own:
{lines}
Coordinates are pixels of a screen of {sight.screen.width}x{sight.screen.height}, from the top left.
Write WAIT, DONE or FAIL, alone, to wait, to say that the task is done, or that it cannot be done."""

    def tools(self, sight: Sight) -> tuple[Tool, ...]:  # noqa: ARG002
        """None: it is written as text."""
        return ()

    def parse(self, reply: ModelReply | str, sight: Sight = Sight()) -> tuple[Action, ...]:  # noqa: ARG002, B008
        """The actions of a reply: a bare WAIT, DONE or FAIL, or one JSON action (or list of them) per code block.

        Raises:
            Invalid: it is no action; `path` says where in it.
        """
        if isinstance(reply, ModelReply):
            reply = reply.text
        if reply.strip() in _BARE:
            return (Action(type=ActionType(reply.strip())),)
        found: list[Action] = []
        for block in json_blocks(reply):
            found.extend(self.read(one) for one in (block if isinstance(block, list) else [block]))
        return tuple(found)

    def read(self, value: Any) -> Action:
        """One decoded JSON action. Raises Invalid."""
        if isinstance(value, str) and value in _BARE:
            return Action(type=ActionType(value))
        if not isinstance(value, dict) or not isinstance(value.get("action_type"), str):
            raise Invalid('expected an object with "action_type"')
        name = value["action_type"].upper()
        if name not in _FORMS:
            raise Invalid(f"there is no action {name!r}", path="action_type", hint=f"Known: {', '.join(_FORMS)}.")
        given = {key: part for key, part in value.items() if key not in {"action_type", "parameters"}}
        nested = value.get("parameters") or {}
        if not isinstance(nested, dict):
            raise Invalid("expected an object", path="parameters")
        form, build = _FORMS[name]
        return build(form.of({**given, **nested}))
