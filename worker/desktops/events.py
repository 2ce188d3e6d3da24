"""Translates the domain's typed actions to the guest's input events."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import Action, ActionType

Event = dict[str, Any]


def _point(action: Action) -> Event:
    """The point; nothing if the action is at the pointer."""
    if action.x is None and action.y is None:
        return {}
    return {"x": action.x, "y": action.y}


def _key(action: Action) -> str:
    if len(action.keys) != 1:
        raise GuestRefused(f"{action.type} takes one key, not {len(action.keys)}", kind="bad_request")
    return action.keys[0]


_EVENTS: Mapping[ActionType, Callable[[Action], Event]] = MappingProxyType(
    {
        ActionType.MOVE_TO: lambda a: {"type": "move", **_point(a)},
        ActionType.CLICK: lambda a: {"type": "click", "button": a.button, "num": a.clicks, **_point(a)},
        ActionType.MOUSE_DOWN: lambda a: {"type": "down", "button": a.button, **_point(a)},
        ActionType.MOUSE_UP: lambda a: {"type": "up", "button": a.button, **_point(a)},
        ActionType.DRAG_TO: lambda a: {"type": "drag", "button": a.button, **_point(a)},
        ActionType.SCROLL: lambda a: {"type": "scroll", "dx": a.dx, "dy": a.dy, **_point(a)},
        ActionType.TYPING: lambda a: {"type": "type", "text": a.text},
        ActionType.PRESS: lambda a: {"type": "press", "key": _key(a)},
        ActionType.KEY_DOWN: lambda a: {"type": "key_down", "key": _key(a)},
        ActionType.KEY_UP: lambda a: {"type": "key_up", "key": _key(a)},
        ActionType.HOTKEY: lambda a: {"type": "hotkey", "keys": list(a.keys)},
    }
)


def input_event(action: Action) -> Event:
    """The event for `POST /input`.

    Raises:
        GuestRefused: It is not a mouse or keyboard action.
    """
    make = _EVENTS.get(action.type)
    if make is None:
        raise GuestRefused(f"{action.type} is not a mouse or keyboard action", kind="bad_request")
    return make(action)
