"""`computer_13`: OSWorld's thirteen mouse and keyboard actions as JSON, with WAIT, DONE and FAIL.

Both upstream forms are accepted: `{"action_type": "CLICK", "x": 1, "y": 2}` and the same with `"parameters": {...}`.
`computer_13_words` describes elements instead of giving coordinates, for planners: another model finds their places.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic import AliasChoices, Field

from backend.domain.actions._blocks import TOKENS, text_of, token, token_after_blocks
from backend.domain.actions._checked import MOST_ACTIONS, check_actions
from backend.domain.actions._forms import Button, Number, read, short
from backend.domain.actions._json import json_blocks
from backend.domain.actions._keys import combination, key_of, press
from backend.domain.actions._points import Coordinates, PointMap, explain, pixel, place
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool
from backend.domain.registry import PluginKind, register


class _Nothing(Parameters):
    pass


class _Point(Parameters):
    x: Number
    y: Number


class _MaybePoint(Parameters):
    x: Number | None = None
    y: Number | None = None


_BUTTON = AliasChoices("button", "click_type")


class _Click(_MaybePoint):
    button: Button = Field(default="left", validation_alias=_BUTTON)
    num_clicks: int = Field(default=1, ge=1, le=3)


class _Button(Parameters):
    button: Button = Field(default="left", validation_alias=_BUTTON)


class _Scroll(Parameters):
    dx: int | None = None
    dy: int | None = None


class _Typing(Parameters):
    text: str = Field(min_length=1)


class _Key(Parameters):
    key: str = Field(min_length=1)


class _Keys(Parameters):
    keys: tuple[str, ...] = Field(min_length=1)


Point = dict[str, int | None]


def _click(point: Point, **more: Any) -> Action:
    return Action(type=ActionType.CLICK, **point, **more)


def _scroll(args: _Scroll, _: Point) -> Action:
    if args.dx is None and args.dy is None:
        raise InvalidAction("a scroll needs dx or dy", code="invalid_arguments", path="dy")
    return Action(type=ActionType.SCROLL, dx=args.dx or 0, dy=args.dy or 0)


# Each form, and how to build the action from it and its point in screen pixels.
_FORMS: Mapping[str, tuple[type[Parameters], Callable[[Any, Point], Action]]] = {
    "MOVE_TO": (_Point, lambda _, at: Action(type=ActionType.MOVE_TO, **at)),
    "CLICK": (_Click, lambda p, at: _click(at, button=p.button, clicks=p.num_clicks)),
    "MOUSE_DOWN": (_Button, lambda p, _: Action(type=ActionType.MOUSE_DOWN, button=p.button)),
    "MOUSE_UP": (_Button, lambda p, _: Action(type=ActionType.MOUSE_UP, button=p.button)),
    "RIGHT_CLICK": (_MaybePoint, lambda _, at: _click(at, button="right")),
    "DOUBLE_CLICK": (_MaybePoint, lambda _, at: _click(at, clicks=2)),
    "DRAG_TO": (_Point, lambda _, at: Action(type=ActionType.DRAG_TO, **at)),
    "SCROLL": (_Scroll, _scroll),
    "TYPING": (_Typing, lambda p, _: Action(type=ActionType.TYPING, text=p.text)),
    "PRESS": (_Key, lambda p, _: Action(type=ActionType.PRESS, keys=(key_of(p.key),))),
    "KEY_DOWN": (_Key, lambda p, _: Action(type=ActionType.KEY_DOWN, keys=(key_of(p.key),))),
    "KEY_UP": (_Key, lambda p, _: Action(type=ActionType.KEY_UP, keys=(key_of(p.key),))),
    "HOTKEY": (_Keys, lambda p, _: Action(type=ActionType.HOTKEY, keys=tuple(key_of(key) for key in p.keys))),
    "WAIT": (_Nothing, lambda *_: Action(type=ActionType.WAIT)),
    "DONE": (_Nothing, lambda *_: Action(type=ActionType.DONE)),
    "FAIL": (_Nothing, lambda *_: Action(type=ActionType.FAIL)),
    # Names of the examples in OSWorld's prompt, which are not in its table.
    "MOUSE_MOVE": (_Point, lambda _, at: Action(type=ActionType.MOVE_TO, **at)),
    "TYPE": (_Typing, lambda p, _: Action(type=ActionType.TYPING, text=p.text)),
    "KEY": (_Key, lambda p, _: press(combination(p.key, "key"))),
}


_EXAMPLE = '{"action_type": "CLICK", "x": 10, "y": 20}'
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


@register(PluginKind.ACTION_SPACE, "computer_13")
class Computer13:
    """Parses a model's reply into typed actions. The loop checks whether a point lies on the screen."""

    about = "Thirteen mouse and keyboard actions as JSON, WAIT, DONE and FAIL."
    Params = Coordinates

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        lines = "\n".join(f"- {line}" for line in _LINES)
        return f"""Answer with one JSON object per action, each in a ```json block of its own:
{lines}
{explain(self.params.coordinates, sight)}
Write WAIT, DONE or FAIL, alone, to wait, to say that the task is done, or that it cannot be done."""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:  # noqa: ARG002
        """None: actions are written as text."""
        return ()

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port: a bare WAIT, DONE or FAIL, or one JSON action (or list of them) per code block."""
        text = text_of(reply)
        at = place(self.params.coordinates, sight)
        return token(text) or check_actions(
            [*(_action(value, at) for value in _values(text, _EXAMPLE)), *token_after_blocks(text)]
        )


_WORDS_EXAMPLE = '{"action_type": "CLICK", "element": "the button Save below the list of files"}'
_WORDS_LINES = (
    f"{_WORDS_EXAMPLE}; RIGHT_CLICK, DOUBLE_CLICK, MOVE_TO likewise",
    '{"action_type": "DRAG_TO", "element": "the folder Pictures"}, from where the pointer is, with the left button',
    *(line for line in _LINES if not any(name in line for name in ("MOVE_TO", "CLICK", "DRAG_TO"))),
)
_POINTING = frozenset({"MOVE_TO", "DRAG_TO"})
_LONGEST_ELEMENT = 1_000


@register(PluginKind.ACTION_SPACE, "computer_13_words")
class Computer13Words:
    """Parses the same actions; the place of an element is that of the mark with its name."""

    about = (
        "computer_13 with descriptions of elements instead of coordinates, for an agent whose second "
        "model locates them."
    )
    Params = Parameters

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:  # noqa: ARG002
        lines = "\n".join(f"- {line}" for line in _WORDS_LINES)
        return f"""Answer with one JSON object per action, each in a ```json block of its own:
{lines}
Describe an element so that it cannot be taken for another: what it is, its text, what it lies beside.
Never write coordinates.
Write WAIT, DONE or FAIL, alone, to wait, to say that the task is done, or that it cannot be done."""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:  # noqa: ARG002
        """None: actions are written as text."""
        return ()

    def elements(self, reply: ModelReply) -> tuple[str, ...]:
        text = text_of(reply)
        values = () if token(text) else _values(text, _WORDS_EXAMPLE)
        return tuple(dict.fromkeys(element for value in values if (element := _element(_flat(value)))))

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        text = text_of(reply)
        values = () if token(text) else _values(text, _WORDS_EXAMPLE)
        return token(text) or check_actions(
            [*(_action(_with_place(value, sight), pixel) for value in values), *token_after_blocks(text)]
        )


def _flat(value: Any) -> dict[str, Any]:
    """An action's fields, with its parameters among them; empty if it is none."""
    if not isinstance(value, dict):
        return {}
    nested = value.get("parameters")
    return {**value, **(nested if isinstance(nested, dict) else {})}


def _element(value: Mapping[str, Any]) -> str:
    """The element that an action names; empty if it names none. Raises InvalidAction."""
    if {"x", "y"} & set(value):
        raise InvalidAction(
            "describe the element, without coordinates",
            code="invalid_arguments",
            path="x",
            hint=f"For example {_WORDS_EXAMPLE}.",
        )
    element = value.get("element", "")
    if not isinstance(element, str) or len(element) > _LONGEST_ELEMENT or ("element" in value and not element.strip()):
        raise InvalidAction(
            f"an element is a text of at most {_LONGEST_ELEMENT} characters", code="invalid_arguments", path="element"
        )
    if not element and str(value.get("action_type", "")).upper() in _POINTING:
        raise InvalidAction(
            "the action needs an element",
            code="invalid_arguments",
            path="element",
            hint=f"For example {_WORDS_EXAMPLE}.",
        )
    return element.strip()


def _with_place(value: Any, sight: CoordinateFrame) -> Any:
    """The action with its element's place."""
    element = _element(_flat(value))
    if not element:
        return value
    mark = next((mark for mark in sight.marks if mark.name == element), None)
    if mark is None:
        raise InvalidAction(f"there is no place of {short(element)}", code="unknown_element", path="element")
    x, y = mark.centre
    arguments = {key: part for key, part in _flat(value).items() if key not in {"element", "parameters"}}
    return {**arguments, "x": x, "y": y}


def _values(text: str, example: str) -> Sequence[Any]:
    """The JSON values of a reply, at least one. Raises InvalidAction."""
    items = (item for block in json_blocks(text, example) for item in (block if isinstance(block, list) else [block]))
    values = list(islice(items, MOST_ACTIONS + 1))  # The check tells that there are too many.
    if not values:
        raise InvalidAction("there is no action in it", code="action_missing", hint=f"For example {example}.")
    return values


def _action(value: Any, at: PointMap) -> Action:
    """One decoded JSON action."""
    if isinstance(value, str) and value in TOKENS:
        return Action(type=ActionType(value))
    if not isinstance(value, dict) or not isinstance(value.get("action_type"), str):
        raise InvalidAction(
            'expected an object with "action_type"', code="action_missing", hint=f"For example {_EXAMPLE}."
        )
    name = value["action_type"].strip().upper()
    if name not in _FORMS:
        raise InvalidAction(
            f"there is no action {name[:40]!r}",
            code="unknown_action",
            path="action_type",
            hint=f"Known: {', '.join(_FORMS)}.",
        )
    flat = {key: part for key, part in value.items() if key not in {"action_type", "parameters"}}
    nested = value.get("parameters") or {}
    if not isinstance(nested, dict):
        raise InvalidAction("expected an object", code="invalid_arguments", path="parameters")
    form, build = _FORMS[name]
    filled = read(form, {**flat, **nested})
    return build(filled, _where(filled, at))


def _where(filled: Any, at: PointMap) -> Point:
    """Screen pixels; empty if no coordinates are present."""
    x, y = getattr(filled, "x", None), getattr(filled, "y", None)
    if x is None and y is None:
        return {}
    if x is None or y is None:
        raise InvalidAction("x and y must be given together", code="invalid_arguments", path="y" if y is None else "x")
    across, down = at(x, y)
    return {"x": across, "y": down}
