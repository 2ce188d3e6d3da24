"""Walks the desktop's accessible objects by AT-SPI. Runs in the helper process only.

Every property is asked for anew (the library's cache is only used by programs that run its main loop), so that the
tree is what the applications say now.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from xml.etree.ElementTree import Element

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402 - the version must be chosen first.

from .a11y_xml import clean, element, put, to_text  # noqa: E402

T = TypeVar("T")
Point = tuple[int, int]

_CALL_MILLISECONDS = 3000
_LONGEST_TEXT = 100_000
_INSIDE = 3  # Pixels inside a table's edge, where its first and last visible cells lie.
_NO_REPLY = ("timed out", "timeout", "NoReply", "no reply", "Timeout")


class HungError(Exception):
    """An application did not answer; its part of the tree is left out."""


@dataclass(frozen=True)
class Origin:
    """Where the parent and the window of an object lie on the screen."""

    parent: Point = (0, 0)
    window: Point | None = None


@dataclass(frozen=True)
class Kinds:
    """What an object can do, and its states."""

    interfaces: frozenset[str]
    states: frozenset[str]

    @property
    def is_table(self) -> bool:
        """A table that makes its cells when they are asked for."""
        return "Table" in self.interfaces and "manages-descendants" in self.states


def prepare() -> str:
    """Connects to the accessibility bus; says what is wrong, empty if nothing is."""
    warnings.simplefilter("ignore")  # Old and new names of AT-SPI calls differ between versions.
    if Atspi.init() not in {0, 1}:
        return "the accessibility bus does not answer"
    Atspi.set_timeout(_CALL_MILLISECONDS, _CALL_MILLISECONDS)
    return ""


def _ask(call: Callable[..., T], *args: Any) -> T | None:
    """One question; None if the object has gone meanwhile."""
    try:
        return call(*args)
    except GLib.Error as error:
        if any(word in str(error) for word in _NO_REPLY):
            raise HungError(str(error)) from None
        return None


def _children(node: Any, most: int) -> Iterator[Any]:
    for index in range(min(_ask(node.get_child_count) or 0, most)):
        child = _ask(node.get_child_at_index, index)
        if child is not None:
            yield child


def applications(most: int) -> list[Any]:
    """All applications with accessible objects; one that hangs is among them, because only the registry is asked."""
    try:
        return list(_children(Atspi.get_desktop(0), most))
    except HungError:
        return []


class Walk:
    """One walk with its bounds.

    Attributes:
        count: elements so far.
        cut: why the tree is not whole; empty if it is.
    """

    def __init__(self, *, nodes: int, depth: int, children: int, deadline: float) -> None:
        self.count = 0
        self.cut = ""
        self._nodes, self._depth, self._most, self._deadline = nodes, depth, children, deadline

    def desktop(self) -> str:
        """The XML of all applications."""
        root = Element("desktop-frame", {"name": "main"})
        self.count = 1
        for application in applications(self._most):
            if self._full():
                break
            try:
                self._add(root, application, 1, Origin())
            except HungError:
                self.cut = "an application did not answer"
        return to_text(root)

    def _full(self) -> bool:
        if self.count >= self._nodes:
            self.cut = f"more than {self._nodes} nodes"
        elif time.monotonic() > self._deadline:
            self.cut = "the time was over"
        else:
            return False
        return True

    def _add(self, parent: Element, node: Any, depth: int, origin: Origin) -> None:
        self.count += 1
        states = _states(node)
        role = _ask(node.get_role_name) or ""
        made = element(role, _ask(node.get_name) or "")
        parent.append(made)
        for state in states:
            put(made, "st", state, "true")
        for key, value in (_ask(node.get_attributes) or {}).items():
            put(made, "attr", key, value)
        kinds = Kinds(frozenset(_ask(node.get_interfaces) or ()), frozenset(states))
        origin = self._describe(made, node, kinds, origin)
        self._descend(made, node, kinds, depth, origin)

    def _describe(self, made: Element, node: Any, kinds: Kinds, origin: Origin) -> Origin:
        if "Text" in kinds.interfaces:
            self._text(made, node)
        # A closed menu has hundreds of items: what nobody can see or click is listed, but not asked for more.
        if not {"showing", "visible"} <= kinds.states:
            return origin
        if "Value" in kinds.interfaces:
            _value(made, node)
        if "Action" in kinds.interfaces:
            _actions(made, node)
        if "Document" in kinds.interfaces:
            for key, value in (_ask(Atspi.Document.get_document_attributes, node) or {}).items():
                put(made, "docattr", key, value)
        return _component(made, node, origin) if "Component" in kinds.interfaces else origin

    def _descend(self, made: Element, node: Any, kinds: Kinds, depth: int, origin: Origin) -> None:
        total = _ask(node.get_child_count) or 0
        if not total:
            return
        if depth >= self._depth:
            self.cut = f"deeper than {self._depth} levels"
            return
        showing_only = total > self._most and kinds.is_table
        if total > self._most:
            self.cut = (
                "of a large table, what shows" if showing_only else f"an object has more than {self._most} children"
            )
        for child in _visible_cells(node, self._most) if showing_only else _children(node, self._most):
            if self._full():
                return
            self._add(made, child, depth + 1, origin)

    def _text(self, made: Element, node: Any) -> None:
        length = _ask(Atspi.Text.get_character_count, node) or 0
        if length > _LONGEST_TEXT:
            self.cut = f"a text has more than {_LONGEST_TEXT} characters"
        if length > 0:
            made.text = clean(_ask(Atspi.Text.get_text, node, 0, min(length, _LONGEST_TEXT)) or "")


def _states(node: Any) -> set[str]:
    found = _ask(node.get_state_set)
    if found is None:
        return set()
    return {state.value_nick for state in found.get_states()} - {"invalid", "last-defined"}


def _value(made: Element, node: Any) -> None:
    calls = {
        "value": Atspi.Value.get_current_value,
        "min": Atspi.Value.get_minimum_value,
        "max": Atspi.Value.get_maximum_value,
        "step": Atspi.Value.get_minimum_increment,
    }
    for name, call in calls.items():
        number = _ask(call, node)
        if number is not None:
            put(made, "val", name, number)


def _actions(made: Element, node: Any) -> None:
    for index in range(min(_ask(Atspi.Action.get_n_actions, node) or 0, 16)):
        name = (_ask(Atspi.Action.get_action_name, node, index) or "").replace(" ", "-")
        if name:
            put(made, "act", f"{name}_desc", _ask(Atspi.Action.get_action_description, node, index) or "")
            put(made, "act", f"{name}_kb", _ask(Atspi.Action.get_key_binding, node, index) or "")


def _component(made: Element, node: Any, origin: Origin) -> Origin:
    box = _ask(node.get_extents, Atspi.CoordType.SCREEN)
    if box is None or box.width < 0 or box.height < 0:
        return origin
    here = (box.x, box.y)
    window = origin.window if origin.window is not None else here
    put(made, "cp", "screencoord", here)
    put(made, "cp", "windowcoord", (here[0] - window[0], here[1] - window[1]))
    put(made, "cp", "parentcoord", (here[0] - origin.parent[0], here[1] - origin.parent[1]))
    put(made, "cp", "size", (box.width, box.height))
    return Origin(here, window)


def _visible_cells(table: Any, most: int) -> Iterator[Any]:
    """The cells that show of a table too large to list (a spreadsheet has thousands of millions)."""
    box = _ask(table.get_extents, Atspi.CoordType.SCREEN)
    if box is None:
        return
    first = _cell_at(table, box.x + _INSIDE, box.y + _INSIDE)
    last = _cell_at(table, box.x + box.width - _INSIDE, box.y + box.height - _INSIDE)
    if first is None or last is None:
        return
    given = 0
    for row in range(first[0], last[0] + 1):
        for column in range(first[1], last[1] + 1):
            cell = _ask(Atspi.Table.get_accessible_at, table, row, column)
            if cell is None:
                continue
            given += 1
            if given > most:
                return
            yield cell


def _cell_at(table: Any, x: int, y: int) -> Point | None:
    cell = _ask(Atspi.Component.get_accessible_at_point, table, x, y, Atspi.CoordType.SCREEN)
    index = _ask(cell.get_index_in_parent) if cell is not None else None
    if index is None or index < 0:
        return None
    row = _ask(Atspi.Table.get_row_at_index, table, index)
    column = _ask(Atspi.Table.get_column_at_index, table, index)
    return None if row is None or column is None else (row, column)


def find_terminal() -> str | None:
    """Text of the terminal with the focus, else of the first one that shows."""
    found: list[tuple[bool, Any]] = []
    for application in applications(100):
        try:
            found.extend(_terminals(application, 12))
        except HungError:
            continue
    if not found:
        return None
    found.sort(key=lambda pair: not pair[0])
    node = found[0][1]
    length = _ask(Atspi.Text.get_character_count, node) or 0
    return clean(_ask(Atspi.Text.get_text, node, max(0, length - _LONGEST_TEXT), length) or "")


def _terminals(node: Any, depth: int) -> Iterator[tuple[bool, Any]]:
    if _ask(node.get_role) == Atspi.Role.TERMINAL:
        yield "focused" in _states(node), node
    elif depth:
        for child in _children(node, 200):
            yield from _terminals(child, depth - 1)
