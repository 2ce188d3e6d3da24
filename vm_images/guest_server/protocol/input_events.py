"""Typed input events and their JSON form; the same on every platform."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from guest_server.protocol.errors import GuestError
from guest_server.protocol.keys import key_name
from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.params import RequestParams

BUTTONS = ("left", "middle", "right")
_LONGEST_GESTURE = 10.0
_MOST_WHEEL_CLICKS = 200


@dataclass(frozen=True)
class Move:
    """Moves the pointer, in a straight line over `duration` seconds."""

    x: int
    y: int
    duration: float = 0.0


@dataclass(frozen=True)
class Button:
    """Presses (`down`) or releases a mouse button at the pointer."""

    button: str
    down: bool


@dataclass(frozen=True)
class Click:
    """Clicks `num` times at the pointer."""

    button: str = "left"
    num: int = 1


@dataclass(frozen=True)
class Drag:
    """Presses the button, moves to a point over `duration` seconds, releases."""

    x: int
    y: int
    button: str = "left"
    duration: float = 0.25


@dataclass(frozen=True)
class Scroll:
    """Turns the wheel; positive `dy` scrolls up, positive `dx` to the right."""

    dx: int = 0
    dy: int = 0


@dataclass(frozen=True)
class Type:
    """Types text; every character arrives exactly once and in order."""

    text: str


@dataclass(frozen=True)
class Key:
    """Presses (`down`) or releases a key named as pyautogui names it, or by its character."""

    key: str
    down: bool


@dataclass(frozen=True)
class Hotkey:
    """Presses the keys in order and releases them in reverse, `times` times."""

    keys: tuple[str, ...]
    times: int = 1


Event = Move | Button | Click | Drag | Scroll | Type | Key | Hotkey


def read_events(value: Any, limits: GuestLimits) -> list[Event]:
    """Validates a list of JSON events before the first is performed.

    Raises:
        GuestError: which event is invalid and why.
    """
    if not isinstance(value, list):
        raise GuestError("bad_request", "'events' must be a list of input events")
    if len(value) > limits.events:
        raise GuestError("too_large", f"{len(value)} events, the limit is {limits.events} in one request")
    events: list[Event] = []
    for number, item in enumerate(value, 1):
        try:
            events.extend(_read(item, limits))
        except GuestError as error:
            raise GuestError(error.kind, f"event {number}: {error.message}") from None
    return events


def _read(item: Any, limits: GuestLimits) -> list[Event]:
    if not isinstance(item, dict):
        raise GuestError("bad_request", "must be an object with a 'type'")
    params = RequestParams(item)
    kind = params.text("type", longest=20)
    reader = _READERS.get(kind)
    if reader is None:
        raise GuestError("bad_request", f"unknown type '{kind}'; known: {', '.join(_READERS)}")
    return reader(params, limits)


def _point(params: RequestParams) -> tuple[int, int]:
    return (
        round(params.number("x", low=-100_000, high=100_000)),
        round(params.number("y", low=-100_000, high=100_000)),
    )


def _there(params: RequestParams) -> list[Event]:
    """A move first, if the event has a point."""
    if params.values.get("x") is None and params.values.get("y") is None:
        return []
    return [Move(*_point(params))]


def _button(params: RequestParams) -> str:
    button = params.text("button", "left")
    if button not in BUTTONS:
        raise GuestError("bad_request", f"unknown button '{button}'; known: {', '.join(BUTTONS)}")
    return button


def _duration(params: RequestParams, default: float) -> float:
    return params.number("duration", default, low=0, high=_LONGEST_GESTURE)


def _move(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return [Move(*_point(params), _duration(params, 0.0))]


def _click(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return [*_there(params), Click(_button(params), params.integer("num", 1, low=1, high=10))]


def _down(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return [*_there(params), Button(_button(params), down=True)]


def _up(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return [*_there(params), Button(_button(params), down=False)]


def _drag(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return [Drag(*_point(params), _button(params), _duration(params, 0.25))]


def _scroll(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    bounds = {"low": -_MOST_WHEEL_CLICKS, "high": _MOST_WHEEL_CLICKS}
    return [*_there(params), Scroll(params.integer("dx", 0, **bounds), params.integer("dy", 0, **bounds))]


def _type(params: RequestParams, limits: GuestLimits) -> list[Event]:
    text = params.text("text", longest=limits.text).replace("\r\n", "\n").replace("\r", "\n")
    for char in text:
        if unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t\b":
            raise GuestError("bad_request", f"character U+{ord(char):04X} cannot be typed")
    return [Type(text)]


def _key(params: RequestParams, *, down: bool) -> list[Event]:
    return [Key(key_name(params.text("key", longest=40)), down)]


def _key_down(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return _key(params, down=True)


def _key_up(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    return _key(params, down=False)


def _press(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    key = key_name(params.text("key", longest=40))
    return [Hotkey((key,), params.integer("times", 1, low=1, high=100))]


def _hotkey(params: RequestParams, _limits: GuestLimits) -> list[Event]:
    keys = params.values.get("keys")
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        raise GuestError("bad_request", "'keys' must be a list of key names")
    return [Hotkey(tuple(key_name(key) for key in keys))]


_READERS = {
    "move": _move,
    "click": _click,
    "down": _down,
    "up": _up,
    "drag": _drag,
    "scroll": _scroll,
    "type": _type,
    "key_down": _key_down,
    "key_up": _key_up,
    "press": _press,
    "hotkey": _hotkey,
}


def points(events: Sequence[Event]) -> list[tuple[int, int]]:
    """All points of the events, for checking against the screen."""
    return [(event.x, event.y) for event in events if isinstance(event, Move | Drag)]
