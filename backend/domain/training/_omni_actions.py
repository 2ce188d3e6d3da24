"""Actions as OmniBench writes them: function, arguments, and the control that they meet.

OmniBench has three functions: `click_input(button, double)`, `wheel_mouse_input(wheel_dist)` and `keyboard_input(keys)`
with pywinauto's key language. What none of them can say (a drag, a held button, code) is written under the name of our
own action, in small letters, with our own fields.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from backend.domain.errors import Invalid
from backend.domain.formats.accessibility import widgets
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.model.trajectory_export import PictureRef, RecordedStep, action_json

_SIGNS = frozenset("^+%(){}~")
_MODIFIERS = {"ctrl": "^", "ctrlleft": "^", "shift": "+", "shiftleft": "+", "alt": "%", "altleft": "%"}
_ENDS = {ActionType.DONE, ActionType.FAIL}
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class ScreenControl:
    """Something on the screen; `rect` is left, top, right, bottom in pixels."""

    rect: tuple[int, int, int, int]
    text: str


def rows(step: RecordedStep) -> Iterator[dict[str, Any]]:
    """The step's actions, in order; DONE and FAIL, which end a trajectory, are not among OmniBench's actions."""
    for action in step.actions:
        if action.type not in _ENDS:
            function, args = call(action)
            met = control_at(step, action)
            yield {
                "function": function,
                "args": args,
                "rect": list(met.rect) if met else None,
                "description": action.note or describe(action, met),
                "thought": step.explanation,
                "control_text": met.text if met else "",
            }


def call(action: Action) -> tuple[str, dict[str, Any]]:
    """Function and arguments."""
    keys = keys_of(action)
    if keys is not None:
        return "keyboard_input", {"keys": keys}
    if action.type is ActionType.CLICK:
        return "click_input", {"button": action.button, "double": action.clicks > 1}
    if action.type is ActionType.SCROLL and not action.dx:
        return "wheel_mouse_input", {"wheel_dist": action.dy}
    args = {name: value for name, value in action_json(action).items() if name not in {"type", "note"}}
    return action.type.value.lower(), args


def keys_of(action: Action) -> str | None:
    """The action's keys in pywinauto's key language; None if it has none or they cannot be expressed."""
    if action.type is ActionType.TYPING:
        return "".join(f"{{{sign}}}" if sign in _SIGNS else sign for sign in action.text)
    if action.type is ActionType.PRESS and len(action.keys) == 1:
        return _key(action.keys[0])
    if action.type is ActionType.HOTKEY and action.keys:
        *modifiers, last = action.keys
        if all(key in _MODIFIERS for key in modifiers) and last not in _MODIFIERS:
            return "".join(_MODIFIERS[key] for key in modifiers) + _key(last)
    return None


def _key(name: str) -> str:
    if len(name) == 1:
        return f"{{{name}}}" if name in _SIGNS else name
    return f"{{{name.upper()}}}"


def describe(action: Action, met: ScreenControl | None) -> str:
    """A few words for people."""
    where = f" on {met.text!r}" if met and met.text else ""
    keys = keys_of(action)
    return f"{action.type.value.lower()}{where}" + (f": {keys[:_LONGEST_TEXT]}" if keys else "")


def control_at(step: RecordedStep, action: Action) -> ScreenControl | None:
    """The smallest control under the action's point: of the picture's marks, else of the accessibility tree."""
    if action.x is None or action.y is None:
        return None
    controls = [control for control in _controls(step) if _is_inside(control.rect, action.x, action.y)]
    return min(controls, key=_area, default=None)


def _controls(step: RecordedStep) -> Sequence[ScreenControl]:
    if step.marks:
        return [
            ScreenControl((mark.x, mark.y, mark.x + mark.width, mark.y + mark.height), mark.name or mark.text)
            for mark in step.marks
        ]
    return () if step.tree is None else _of_tree(step.tree())


@lru_cache(maxsize=4)
def _of_tree(xml: str) -> Sequence[ScreenControl]:
    """Controls of a tree; none where it cannot be read, since a guest may write anything into it."""
    try:
        elements = widgets(xml)
    except Invalid:
        return ()
    rects = ((widget, widget.rect) for widget in elements if widget.on_screen and widget.rect)
    return [
        ScreenControl((x, y, x + width, y + height), (widget.name or widget.text)[:_LONGEST_TEXT])
        for widget, (x, y, width, height) in rects
    ]


def _is_inside(rect: tuple[int, int, int, int], x: int, y: int) -> bool:
    left, top, right, bottom = rect
    return left <= x < right and top <= y < bottom


def _area(control: ScreenControl) -> int:
    left, top, right, bottom = control.rect
    return (right - left) * (bottom - top)


def parallel(steps: Sequence[RecordedStep]) -> Mapping[str, list[Any]]:
    """`observations` and `actions` of these steps, equally long: the picture before each action, and the action."""
    pairs = [(step.frame.path if step.frame else None, row) for step in steps for row in rows(step)]
    return {"observations": [path for path, _ in pairs], "actions": [row for _, row in pairs]}


def observed_pictures(steps: Sequence[RecordedStep]) -> Iterator[PictureRef]:
    """The pictures that `parallel` names."""
    return (step.frame for step in steps if step.frame and any(action.type not in _ENDS for action in step.actions))
