"""Presses keys in the desktop, in the words of OSWorld's replays."""

from collections.abc import Sequence
from enum import StrEnum

from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.desktop import Desktop


class StrokeKind(StrEnum):
    """What can be done."""

    HOTKEY = "hotkey"
    TYPEWRITE = "typewrite"
    PRESS = "press"


def strike(desktop: Desktop, stroke: StrokeKind, what: str | Sequence[str]) -> None:
    """Does it and lets the screen follow. GuestRefused for a key that the desktop does not know."""
    if stroke is StrokeKind.TYPEWRITE:
        action = Action(type=ActionType.TYPING, text="".join(what))
    elif stroke is StrokeKind.PRESS:
        action = Action(type=ActionType.PRESS, keys=("".join(what),))
    else:
        action = Action(type=ActionType.HOTKEY, keys=tuple(what))
    desktop.perform(action)
    desktop.wait_stable(quiet=0.3, timeout=3.0)
