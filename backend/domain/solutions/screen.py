"""Conditions of an oracle solution's steps, and their actions.

Players are the agent `oracle` and the set-up step `perform`. Widgets are found in the accessibility tree.
"""

from collections.abc import Sequence
from typing import Any

from backend.domain.formats.accessibility import WINDOW_ROLES, Widget, widgets
from backend.domain.model.trajectory import Action, ActionType, Window
from backend.domain.solutions.steps import DragStep, OracleStep, ScrollStep, Selector

BLIND = frozenset({"type", "press", "hotkey"})
"""Steps that need no widget, so they may follow another action at once."""


VERBS = {
    "wait": "Wait for",
    "wait_gone": "Wait for the end of",
    "wait_window": "Wait for window",
    "wait_window_gone": "Wait for the end of window",
    "click": "Click",
    "double_click": "Double-click",
    "right_click": "Right-click",
    "move_to": "Move pointer to",
    "drag": "Drag",
    "scroll": "Scroll",
    "type": "Type",
    "press": "Press",
    "hotkey": "Press",
    "fail": "Answer FAIL:",
}
"""How a step's text begins, by its verb."""


def describe(step: OracleStep) -> str:
    """A step as text, such as `Wait for table cell "main.py"` or `Press Ctrl+S`."""
    value, verb = getattr(step, step.verb), VERBS[step.verb]
    if isinstance(value, Selector):
        return f"{verb} {value.to_text()}"
    if isinstance(value, DragStep):
        return f"{verb} {value.start.to_text()} to {value.end.to_text()}"
    if isinstance(value, ScrollStep):
        return f"{verb} {'down' if value.dy < 0 else 'up'} over {value.at.to_text()}"
    if verb == "Press":
        return f"{verb} {'+'.join(key.capitalize() for key in ([value] if isinstance(value, str) else value))}"
    return f'{verb} "{value}"'


class VisibleScreen:
    """Visible state of the desktop at one moment."""

    def __init__(self, tree: str, listed: Sequence[Window] | None) -> None:
        """Raises Invalid if the tree cannot be read. `listed`: windows; None = only those in the tree."""
        self._widgets = widgets(tree)
        if listed is None:
            frames = [widget for widget in self._widgets if widget.role in WINDOW_ROLES]
            self.titles = [frame.name for frame in frames]
            self._active = [frame.name for frame in frames if "active" in frame.states]
        else:
            self.titles = [window.title for window in listed]
            self._active = [window.title for window in listed if window.active]

    def has_window(self, title: str, *, active: bool) -> bool:
        """Whether a window's title contains the text; with `active`, that of the active one."""
        return any(title in name for name in (self._active if active else self.titles))

    def find(self, selector: Selector) -> Widget | None:
        """The selected widget; None if it does not exist."""
        fitting = [widget for widget in self._widgets if selector.fits(widget)]
        fitting = [element for element in fitting if element.in_active] or fitting
        try:
            return fitting[selector.index]
        except IndexError:
            return None


def attempt(step: OracleStep, screen: VisibleScreen) -> tuple[bool, list[Action]]:
    """Whether the step can be done now, and by which actions."""
    if step.drag is not None:
        start, end = screen.find(step.drag.start), screen.find(step.drag.end)
        return start is not None and end is not None, _drag(step, start, end)
    if step.scroll is not None:
        element = screen.find(step.scroll.at)
        over = [] if element is None else [_point(ActionType.MOVE_TO, element, step.scroll.at)]
        return element is not None, [*over, Action(type=ActionType.SCROLL, dy=step.scroll.dy)]
    for selector, kind, extra in _pointing(step):
        widget = screen.find(selector)
        return widget is not None, [] if widget is None else [_point(kind, widget, selector, **extra)]
    return _is_visible(step, screen), _keyboard(step)


def _is_visible(step: OracleStep, screen: VisibleScreen) -> bool:
    """For steps that wait; those that only press keys need see nothing."""
    if step.wait is not None:
        return screen.find(step.wait) is not None
    if step.wait_gone is not None:
        return screen.find(step.wait_gone) is None
    if step.wait_window is not None:
        return screen.has_window(step.wait_window, active=True)
    return step.wait_window_gone is None or not screen.has_window(step.wait_window_gone, active=False)


def _keyboard(step: OracleStep) -> list[Action]:
    if step.type is not None:
        return [Action(type=ActionType.TYPING, text=step.type)]
    if step.press is not None:
        return [Action(type=ActionType.PRESS, keys=(step.press,))]
    if step.hotkey is not None:
        return [Action(type=ActionType.HOTKEY, keys=step.hotkey)]
    return [] if step.fail is None else [Action(type=ActionType.FAIL, note=step.fail)]


def _pointing(step: OracleStep) -> list[tuple[Selector, ActionType, dict[str, Any]]]:
    candidates: list[tuple[Selector | None, ActionType, dict[str, Any]]] = [
        (step.click, ActionType.CLICK, {}),
        (step.double_click, ActionType.CLICK, {"clicks": 2}),
        (step.right_click, ActionType.CLICK, {"button": "right"}),
        (step.move_to, ActionType.MOVE_TO, {}),
    ]
    return [(selector, kind, extra) for selector, kind, extra in candidates if selector is not None]


def _drag(step: OracleStep, start: Widget | None, end: Widget | None) -> list[Action]:
    if step.drag is None or start is None or end is None:
        return []
    return [_point(ActionType.MOVE_TO, start, step.drag.start), _point(ActionType.DRAG_TO, end, step.drag.end)]


def _point(kind: ActionType, widget: Widget, selector: Selector, **extra: Any) -> Action:
    x, y, width, height = widget.rect or (0, 0, 0, 0)
    across, down = selector.at
    return Action(type=kind, x=x + int(width * across), y=y + int(height * down), **extra)
