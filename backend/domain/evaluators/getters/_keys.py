"""Presses keys in the desktop, in the notation of OSWorld's replays."""

from collections.abc import Sequence
from enum import StrEnum

from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop


class StrokeKind(StrEnum):
    """Kinds of keyboard actions."""

    HOTKEY = "hotkey"
    TYPEWRITE = "typewrite"
    PRESS = "press"


def strike(desktop: Desktop, stroke: StrokeKind, text_or_keys: str | Sequence[str]) -> None:
    """Performs the action and lets the screen settle. Raises GuestRefused for an unknown key."""
    if stroke is StrokeKind.TYPEWRITE:
        action = Action(type=ActionType.TYPING, text="".join(text_or_keys))
    elif stroke is StrokeKind.PRESS:
        action = Action(type=ActionType.PRESS, keys=("".join(text_or_keys),))
    else:
        action = Action(type=ActionType.HOTKEY, keys=tuple(text_or_keys))
    desktop.perform(action)
    desktop.wait_stable(quiet=0.3, timeout=3.0)
