"""Calls of native GUI models: the arguments of each, and its actions."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from backend.domain.actions._forms import Button, Number, lower, read, short
from backend.domain.actions._gui_calls import GuiCall, unknown
from backend.domain.actions._gui_points import Path, Place
from backend.domain.actions._keys import combination, press
from backend.domain.actions._points import PointMap
from backend.domain.actions._tool_calls import chord, dragged, of_pixels, scrolled, typing, waits, wheel_clicks
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType

_SCROLL_CLICKS = 5  # UI-TARS' own code scrolls by 5.
_AT = AliasChoices("point", "start_box", "start_point", "coordinate", "position", "box")
_TO = AliasChoices("end_box", "end_point", "to", "coordinate2")
_TEXT = AliasChoices("content", "text", "value", "message", "answer", "")
_KEYS = AliasChoices("key", "keys", "hotkey", "text", "value", "press", "content", "")
_TWO_WORD_KEYS = frozenset(
    {"page up", "page down", "caps lock", "num lock", "scroll lock", "print screen", "space bar", "context menu"}
    | {f"{first} arrow" for first in ("up", "down", "left", "right")}
    | {f"arrow {second}" for second in ("up", "down", "left", "right")}
)
_SUCCESS = frozenset({"success", "successful", "done", "complete", "completed", "finished"})
_FAILURE = frozenset({"failure", "fail", "failed", "infeasible", "impossible"})


def _empty(value: Any) -> Any:
    """The text `None`, as models write it where there is no text; a number as its digits."""
    return "" if value is None or value == "None" else _number_as_text(value)


def _no_place(value: Any) -> Any:
    """None for an empty place, as models write it where they mean none."""
    return None if value in ("", "None", [], ()) else value


def _number_as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Direction = Annotated[Literal["up", "down", "left", "right"], BeforeValidator(lower)]
Text = Annotated[str, BeforeValidator(_empty)]


@dataclass(frozen=True)
class Screen:
    """The screen that coordinates refer to.

    Attributes:
        at: the screen's pixel under a place.
        height: of the screen, in pixels.
    """

    at: PointMap
    height: int


class _Nothing(Parameters):
    text: Text = Field(default="", validation_alias=_TEXT)
    place: Any = Field(default=None, validation_alias=_AT)
    seconds: Any = Field(default=None, validation_alias=AliasChoices("time", "seconds"))


class _Wait(Parameters):
    place: Any = Field(default=None, validation_alias=_AT)
    seconds: Any = Field(
        default=None, validation_alias=AliasChoices("time", "seconds", "duration", "text", "value", "")
    )
    unit: Any = Field(default=None, validation_alias=AliasChoices("content", "message"))


class _Click(Parameters):
    at: Place | None = Field(default=None, validation_alias=_AT)
    button: Button | None = None
    clicks: int | None = Field(default=None, ge=1, le=3)
    duration: Any = None
    interval: Any = None


class _ClickAt(_Click):
    at: Place = Field(validation_alias=_AT)
    text: Text = Field(default="", validation_alias=_TEXT)


class _DragTo(Parameters):
    at: Place | None = Field(default=None, validation_alias=_AT)
    to: Place | None = Field(default=None, validation_alias=_TO)
    button: Literal["left"] = "left"
    duration: Any = None


class _Drag(_DragTo):
    to: Place = Field(validation_alias=_TO)


class _Path(Parameters):
    path: Path = Field(validation_alias=_AT)
    text: Text = Field(default="", validation_alias=_TEXT)


class _Type(Parameters):
    at: Place | None = Field(default=None, validation_alias=_AT)
    text: Annotated[str, BeforeValidator(_number_as_text)] = Field(validation_alias=_TEXT)
    interval: Any = None


class _Keys(Parameters):
    keys: str | tuple[str, ...] = Field(validation_alias=_KEYS)
    interval: Any = None


class _Presses(_Keys):
    presses: int = Field(default=1, ge=1, le=100)


class _Scroll(Parameters):
    at: Annotated[Place | None, BeforeValidator(_no_place)] = Field(default=None, validation_alias=_AT)
    direction: Direction = Field(validation_alias=AliasChoices("direction", "text", "value"))


class _ScrollPixels(Parameters):
    at: Place | None = Field(default=None, validation_alias=_AT)
    pixels: Number


class _ScrollPages(Parameters):
    at: Place | None = Field(default=None, validation_alias=_AT)
    page: Number | None = None
    clicks: Number | None = Field(default=None, validation_alias=AliasChoices("clicks", ""))


class _End(Parameters):
    status: Annotated[str, BeforeValidator(lower)] = Field(validation_alias=AliasChoices("status", "text", ""))
    text: Text = Field(default="", validation_alias=AliasChoices("answer", "content"))


Verb = tuple[type[Parameters], Callable[[Any, Screen], Sequence[Action]]]


def _pointer_action(kind: ActionType, point: Place | None, screen: Screen, **more: Any) -> Action:
    x, y = screen.at(*point) if point else (None, None)
    return Action(type=kind, x=x, y=y, **more)


def _click(button: str = "", clicks: int = 0, form: type[_Click] = _Click) -> Verb:
    def build(args: _Click, screen: Screen) -> list[Action]:
        if (button and args.button not in {None, button}) or (clicks and args.clicks not in {None, clicks}):
            raise InvalidAction("the name of the click says another button or number", code="invalid_arguments")
        own = {"button": button or args.button or "left", "clicks": clicks or args.clicks or 1}
        return [_pointer_action(ActionType.CLICK, args.at, screen, **own)]

    return form, build


def _point(kind: ActionType, form: type[_Click] = _Click) -> Verb:
    return form, lambda args, screen: [_pointer_action(kind, args.at, screen)]


def _drag(args: _DragTo, screen: Screen) -> list[Action]:
    if args.to is None:
        if args.at is None:
            raise InvalidAction("a drag needs a place", code="invalid_arguments")
        return [_pointer_action(ActionType.DRAG_TO, args.at, screen)]
    return (
        dragged([*([screen.at(*args.at)] if args.at else []), screen.at(*args.to)])
        if args.at
        else [_pointer_action(ActionType.DRAG_TO, args.to, screen)]
    )


def _type(args: _Type, screen: Screen) -> list[Action]:
    focus = [_pointer_action(ActionType.CLICK, args.at, screen)] if args.at else []
    return [*focus, *typing(args.text)] or waits("no text to type")


def _scroll(args: _Scroll, screen: Screen) -> list[Action]:
    return [scrolled(args.direction, _SCROLL_CLICKS, screen.at(*args.at) if args.at else None)]


def _scroll_by(clicks: int, point: Place | None, screen: Screen, *, across: bool) -> list[Action]:
    amount = {"dx": clicks} if across else {"dy": clicks}
    return [_pointer_action(ActionType.SCROLL, point, screen, **amount)]


def _pixels(*, across: bool) -> Verb:
    return _ScrollPixels, lambda args, screen: _scroll_by(of_pixels(args.pixels), args.at, screen, across=across)


def _pages(*, across: bool) -> Verb:
    def build(args: _ScrollPages, screen: Screen) -> list[Action]:
        if (args.page is None) == (args.clicks is None):
            raise InvalidAction("a scroll needs a number of pages", code="invalid_arguments", path="page")
        if args.clicks is not None and abs(args.clicks) > 1:  # As pyautogui itself counts: clicks of the wheel.
            return _scroll_by(wheel_clicks(args.clicks, "clicks"), args.at, screen, across=across)
        pages = args.clicks if args.page is None else args.page
        return _scroll_by(of_pixels((pages or 0) * screen.height), args.at, screen, across=across)

    return _ScrollPages, build


def keys_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """Keys of `ctrl c`, `ctrl+c`, `page down`, or of a list of such.

    Raises:
        InvalidAction: a key is unknown or missing.
    """
    if isinstance(value, str) and value.strip().startswith("[") and isinstance(listed := _list_of(value.strip()), list):
        value = listed
    if not isinstance(value, str):
        keys = tuple(key for part in value for key in keys_of(str(part)))
        if not keys:
            raise InvalidAction("a key is missing", code="invalid_keys", path="keys")
        return keys
    words = value.split()
    if len(words) < 2:  # noqa: PLR2004 - nothing to put together.
        return combination(value, "key")
    if "+" in words[:-1]:
        try:
            return combination(value, "key")
        except InvalidAction:
            words = [word for word in words if word != "+"]
    return tuple(key for word in _join_key_names(words) for key in combination(word, "key"))


def _list_of(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _join_key_names(words: Sequence[str]) -> Sequence[str]:
    """The words, with those put together that are one key: `ctrl page down` are two."""
    joined: list[str] = []
    for word in words:
        if joined and f"{joined[-1]} {word}".lower() in _TWO_WORD_KEYS:
            joined[-1] += f" {word}"
        else:
            joined.append(word)
    return joined


def _hotkey(args: _Keys, _: Screen) -> list[Action]:
    return chord(keys_of(args.keys))


def _press(args: _Presses, _: Screen) -> list[Action]:
    return [press((key,)) for key in keys_of(args.keys)] * args.presses


def _key_event(kind: ActionType) -> Verb:
    return _Keys, lambda args, _: [Action(type=kind, keys=(key,)) for key in keys_of(args.keys)]


def _ending(kind: ActionType) -> Verb:
    return _Nothing, lambda args, _: [Action(type=kind, note=args.text[:200])]


def _terminate(args: _End, _: Screen) -> list[Action]:
    if args.status not in _SUCCESS | _FAILURE:
        raise InvalidAction(
            f"there is no status {short(args.status)}",
            code="invalid_arguments",
            path="status",
            hint="It is success or failure.",
        )
    return [Action(type=ActionType.DONE if args.status in _SUCCESS else ActionType.FAIL, note=args.text[:200])]


VERBS: Mapping[str, Verb] = {
    "click": _click(),
    "click_at": _click(form=_ClickAt),
    "left_click_at": _click("left", 1, _ClickAt),
    "double_click_at": _click("left", 2, _ClickAt),
    "right_click_at": _click("right", 1, _ClickAt),
    "left_click": _click("left", 1),
    "double_click": _click("left", 2),
    "triple_click": _click("left", 3),
    "right_click": _click("right", 1),
    "middle_click": _click("middle", 1),
    "move": _point(ActionType.MOVE_TO, _ClickAt),
    "mouse_down": _point(ActionType.MOUSE_DOWN),
    "mouse_up": _point(ActionType.MOUSE_UP),
    "drag": (_Drag, _drag),
    "drag_to": (_DragTo, _drag),
    "drag_path": (_Path, lambda args, screen: dragged([screen.at(*place) for place in args.path])),
    "type": (_Type, _type),
    "hotkey": (_Keys, _hotkey),
    "press": (_Presses, _press),
    "key_down": _key_event(ActionType.KEY_DOWN),
    "key_up": _key_event(ActionType.KEY_UP),
    "enter": (_Nothing, lambda *_: [press(("enter",))]),
    "copy": (_Nothing, lambda *_: [press(("ctrl", "c"))]),
    "scroll": (_Scroll, _scroll),
    "scroll_pixels": _pixels(across=False),
    "hscroll_pixels": _pixels(across=True),
    "scroll_pages": _pages(across=False),
    "hscroll_pages": _pages(across=True),
    "wait": (_Wait, lambda *_: waits("wait")),
    "answer": (_Nothing, lambda args, _: waits(f"answer: {args.text}")),
    "done": _ending(ActionType.DONE),
    "fail": _ending(ActionType.FAIL),
    "terminate": (_End, _terminate),
}
"""Meanings of calls. A format gives one of these to each of its own calls."""


def actions_of_call(call: GuiCall, verbs: Mapping[str, str], screen: Screen, path: str) -> Sequence[Action]:
    """The actions of a call.

    Args:
        call: as the model wrote it.
        verbs: the format's names of VERBS.
        screen: what places refer to.
        path: where the call is in the reply.

    Raises:
        InvalidAction: it is not part of the format, or its arguments are wrong.
    """
    if call.name not in verbs:
        raise unknown(call.name, verbs, path)
    form, build = VERBS[verbs[call.name]]
    return build(read(form, call.arguments, path), screen)
