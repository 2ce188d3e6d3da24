"""Finds the control at a point of the screen and the focused one, with AT-SPI. Runs in a helper process only.

Both have time limits: what is not found in time is unknown.
"""

import time
from collections.abc import Iterator
from typing import Any

from guest_server.linux.a11y_ask import Atspi, HungError, applications, ask, children_of, states_of
from guest_server.protocol.a11y_xml import clean
from guest_server.protocol.interaction_log import InteractionTarget

SECONDS = 0.25
_CHILDREN = 200
_LEVELS = 40
_SHOWN = frozenset({"showing", "visible"})
_WINDOWS = frozenset({"frame", "dialog", "window", "alert", "file chooser", "application", "desktop frame", "unknown"})
_TEXTS = frozenset({"text", "terminal", "entry", "password text", "document text", "document frame", "paragraph"})
_MENUS = frozenset({"menu", "menu bar", "popup menu", "combo box"})
_LONGEST_LABEL = 200
_CLIMB = 4


class Search:
    """One search with its deadline."""

    def __init__(self) -> None:
        self._end = time.monotonic() + SECONDS

    def at(self, pid: int | None, x: int, y: int, *, popup: bool) -> Any:
        """The control at that point; None if it is not found.

        Args:
            pid: program of the window there.
            x: pixels from the left of the screen.
            y: pixels from its top.
            popup: whether the window there has no frame: a menu or a drop-down list.
        """
        control = None
        for application in _applications(pid):
            for top in reversed(list(children_of(application, _CHILDREN))):
                if popup:
                    control = self._in_popup(top, x, y, _LEVELS) or control
                    if control is not None:
                        return control
                elif _contains(top, x, y) and states_of(top) >= _SHOWN:
                    return self._deepest(top, x, y)
        return control

    def focused(self, pid: int | None) -> Any:
        """The focused control in the active window; None if it is not found."""
        for application in _applications(pid):
            for top in children_of(application, _CHILDREN):
                if "active" in states_of(top):
                    return self._focused_in(top, _LEVELS)
        return None

    def _is_late(self) -> bool:
        return time.monotonic() > self._end

    def _deepest(self, node: Any, x: int, y: int) -> Any:
        for _ in range(_LEVELS):
            inner = self._inner(node, x, y)
            if inner is None or self._is_late():
                return node
            node = inner
        return node

    def _inner(self, node: Any, x: int, y: int) -> Any:
        """The child at that point. Asking the program is fastest; not all support it."""
        hit = ask(Atspi.Component.get_accessible_at_point, node, x, y, Atspi.CoordType.SCREEN)
        if hit is not None and hit != node and _contains(hit, x, y):
            return hit
        if "manages-descendants" in states_of(node):
            return None
        pages = []
        for child in self._latest_first(node):
            if "showing" in states_of(child):
                if _contains(child, x, y):
                    return child
                pages += [child] if ask(child.get_role_name) == "page tab" else []
        # A tab is as large as its clickable part; the page inside it is elsewhere.
        return next((inner for page in pages if (inner := self._inner(page, x, y)) is not None), None)

    def _latest_first(self, node: Any) -> Iterator[Any]:
        """The latest added child is on top."""
        for child in reversed(list(children_of(node, _CHILDREN))):
            if self._is_late():
                return
            yield child

    def _in_popup(self, node: Any, x: int, y: int, levels: int) -> Any:
        """An item of an open menu: it is elsewhere than the item that opened it."""
        if self._is_late() or not levels or "showing" not in states_of(node):
            return None
        role = ask(node.get_role_name) or ""
        if role in _TEXTS or "manages-descendants" in states_of(node):
            return None
        for child in self._latest_first(node):
            item = self._in_popup(child, x, y, levels - 1)
            if item is not None:
                return item
        return node if role not in _MENUS | _WINDOWS and _is_item(role) and _contains(node, x, y) else None

    def _focused_in(self, node: Any, levels: int) -> Any:
        if self._is_late() or not levels:
            return None
        states = states_of(node)
        if "focused" in states and ask(node.get_role_name) not in _WINDOWS:
            return node
        if not states >= _SHOWN or "manages-descendants" in states:
            return None
        for child in children_of(node, _CHILDREN):
            inner = self._focused_in(child, levels - 1)
            if inner is not None:
                return inner
        return None


def _is_item(role: str) -> bool:
    return role.endswith("item") or role in {"table cell", "push button", "toggle button", "icon", "label", "entry"}


def _applications(pid: int | None) -> Iterator[Any]:
    """The program's application object; all if it is unknown."""
    for application in applications(100):
        if pid is None or ask(application.get_process_id) == pid:
            yield application


def _box(node: Any) -> Any:
    box = ask(node.get_extents, Atspi.CoordType.SCREEN)
    return box if box is not None and box.width > 0 and box.height > 0 else None


def _contains(node: Any, x: int, y: int) -> bool:
    box = _box(node)
    return box is not None and box.x <= x < box.x + box.width and box.y <= y < box.y + box.height


def has_focus(node: Any) -> bool:
    """Whether a control still has the focus."""
    try:
        return node is not None and "focused" in states_of(node)
    except HungError:
        return False


def described(node: Any, window: str) -> InteractionTarget:
    """A control's description. Without a name it gets that of its parent, such as a picture in a button."""
    if node is None:
        return InteractionTarget(window=window)
    role = ask(node.get_role_name) or ""
    name = _name(node, role)
    element = node
    for _ in range(_CLIMB if not name and role not in _TEXTS else 0):
        element = ask(element.get_parent)
        above = (ask(element.get_role_name) or "") if element is not None else "window"
        if above in _WINDOWS:
            break
        name = _name(element, above)
        if name:
            node, role = element, above
            break
    box = _box(node)
    rect = (box.x, box.y, box.width, box.height) if box is not None else None
    return InteractionTarget(control=name, role=role, rect=rect, window=window)


def _name(node: Any, role: str) -> str:
    name = clean(ask(node.get_name) or "").strip()
    if name:
        return name
    for relation in ask(node.get_relation_set) or []:
        if relation.get_relation_type() == Atspi.RelationType.LABELLED_BY:
            return clean(ask(relation.get_target(0).get_name) or "").strip().rstrip(":")
    if role not in _TEXTS and "Text" in (ask(node.get_interfaces) or ()):
        return clean(ask(Atspi.Text.get_text, node, 0, _LONGEST_LABEL) or "").strip()
    return clean(ask(node.get_description) or "").strip()
