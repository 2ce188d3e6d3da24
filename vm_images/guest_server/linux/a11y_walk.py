"""Walks the desktop's accessible objects with AT-SPI. Runs in the helper process only.

Every property is requested again (the library's cache works only with its main loop), so the tree is current.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from guest_server.linux.a11y_ask import Atspi, HungError, applications, ask, children_of, states_of
from guest_server.protocol.a11y_xml import clean, element, put, to_text

Point = tuple[int, int]

_LONGEST_TEXT = 100_000
_INSIDE = 3  # Pixels inside a table's edge, where its first and last visible cells lie.


@dataclass(frozen=True)
class ScreenOrigin:
    """Screen positions of an object's parent and window."""

    parent: Point = (0, 0)
    window: Point | None = None


@dataclass(frozen=True)
class Kinds:
    """An object's interfaces and states."""

    interfaces: frozenset[str]
    states: frozenset[str]

    @property
    def is_table(self) -> bool:
        """A table that creates its cells on request."""
        return "Table" in self.interfaces and "manages-descendants" in self.states


class AtspiWalk:
    """One walk with its limits.

    Attributes:
        count: elements so far.
        cut: why the tree is truncated; empty if it is not.
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
                self._add(root, application, 1, ScreenOrigin())
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

    def _add(self, parent: Element, node: Any, depth: int, origin: ScreenOrigin) -> None:
        self.count += 1
        states = states_of(node)
        role = ask(node.get_role_name) or ""
        xml_node = element(role, ask(node.get_name) or "")
        parent.append(xml_node)
        for state in states:
            put(xml_node, "st", state, "true")
        for key, value in (ask(node.get_attributes) or {}).items():
            put(xml_node, "attr", key, value)
        kinds = Kinds(frozenset(ask(node.get_interfaces) or ()), frozenset(states))
        origin = self._describe(xml_node, node, kinds, origin)
        self._descend(xml_node, node, kinds, depth, origin)

    def _describe(self, xml_node: Element, node: Any, kinds: Kinds, origin: ScreenOrigin) -> ScreenOrigin:
        if "Text" in kinds.interfaces:
            self._text(xml_node, node)
        # A closed menu has hundreds of items: invisible items are listed without details.
        if not {"showing", "visible"} <= kinds.states:
            return origin
        if "Value" in kinds.interfaces:
            _value(xml_node, node)
        if "Action" in kinds.interfaces:
            _actions(xml_node, node)
        if "Document" in kinds.interfaces:
            for key, value in (ask(Atspi.Document.get_document_attributes, node) or {}).items():
                put(xml_node, "docattr", key, value)
        return _component(xml_node, node, origin) if "Component" in kinds.interfaces else origin

    def _descend(self, xml_node: Element, node: Any, kinds: Kinds, depth: int, origin: ScreenOrigin) -> None:
        total = ask(node.get_child_count) or 0
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
        for child in _visible_cells(node, self._most) if showing_only else children_of(node, self._most):
            if self._full():
                return
            self._add(xml_node, child, depth + 1, origin)

    def _text(self, xml_node: Element, node: Any) -> None:
        length = ask(Atspi.Text.get_character_count, node) or 0
        if length > _LONGEST_TEXT:
            self.cut = f"a text has more than {_LONGEST_TEXT} characters"
        if length > 0:
            xml_node.text = clean(ask(Atspi.Text.get_text, node, 0, min(length, _LONGEST_TEXT)) or "")


def _value(xml_node: Element, node: Any) -> None:
    calls = {
        "value": Atspi.Value.get_current_value,
        "min": Atspi.Value.get_minimum_value,
        "max": Atspi.Value.get_maximum_value,
        "step": Atspi.Value.get_minimum_increment,
    }
    for name, call in calls.items():
        number = ask(call, node)
        if number is not None:
            put(xml_node, "val", name, number)


def _actions(xml_node: Element, node: Any) -> None:
    for index in range(min(ask(Atspi.Action.get_n_actions, node) or 0, 16)):
        name = (ask(Atspi.Action.get_action_name, node, index) or "").replace(" ", "-")
        if name:
            put(xml_node, "act", f"{name}_desc", ask(Atspi.Action.get_action_description, node, index) or "")
            put(xml_node, "act", f"{name}_kb", ask(Atspi.Action.get_key_binding, node, index) or "")


def _component(xml_node: Element, node: Any, origin: ScreenOrigin) -> ScreenOrigin:
    box = ask(node.get_extents, Atspi.CoordType.SCREEN)
    if box is None or box.width < 0 or box.height < 0:
        return origin
    here = (box.x, box.y)
    window = origin.window if origin.window is not None else here
    put(xml_node, "cp", "screencoord", here)
    put(xml_node, "cp", "windowcoord", (here[0] - window[0], here[1] - window[1]))
    put(xml_node, "cp", "parentcoord", (here[0] - origin.parent[0], here[1] - origin.parent[1]))
    put(xml_node, "cp", "size", (box.width, box.height))
    return ScreenOrigin(here, window)


def _visible_cells(table: Any, most: int) -> Iterator[Any]:
    """Visible cells of a table that is too large to list (a spreadsheet has billions)."""
    box = ask(table.get_extents, Atspi.CoordType.SCREEN)
    if box is None:
        return
    first = _cell_at(table, box.x + _INSIDE, box.y + _INSIDE)
    last = _cell_at(table, box.x + box.width - _INSIDE, box.y + box.height - _INSIDE)
    if first is None or last is None:
        return
    count = 0
    for row in range(first[0], last[0] + 1):
        for column in range(first[1], last[1] + 1):
            cell = ask(Atspi.Table.get_accessible_at, table, row, column)
            if cell is None:
                continue
            count += 1
            if count > most:
                return
            yield cell


def _cell_at(table: Any, x: int, y: int) -> Point | None:
    cell = ask(Atspi.Component.get_accessible_at_point, table, x, y, Atspi.CoordType.SCREEN)
    index = ask(cell.get_index_in_parent) if cell is not None else None
    if index is None or index < 0:
        return None
    row = ask(Atspi.Table.get_row_at_index, table, index)
    column = ask(Atspi.Table.get_column_at_index, table, index)
    return None if row is None or column is None else (row, column)


def find_terminal() -> str | None:
    """Text of the focused terminal, else of the first visible one."""
    terminals: list[tuple[bool, Any]] = []
    for application in applications(100):
        try:
            terminals.extend(_terminals(application, 12))
        except HungError:
            continue
    if not terminals:
        return None
    terminals.sort(key=lambda pair: not pair[0])
    node = terminals[0][1]
    length = ask(Atspi.Text.get_character_count, node) or 0
    return clean(ask(Atspi.Text.get_text, node, max(0, length - _LONGEST_TEXT), length) or "")


def _terminals(node: Any, depth: int) -> Iterator[tuple[bool, Any]]:
    if ask(node.get_role) == Atspi.Role.TERMINAL:
        yield "focused" in states_of(node), node
    elif depth:
        for child in children_of(node, 200):
            yield from _terminals(child, depth - 1)
