"""Reads the accessibility tree (OSWorld's XML) into a flat list of widgets.

The element's tag is the role, `name` its name, its text the content; states, rectangle and value are attributes in
namespaces that differ between projects and versions, so only the local part of a name counts.

In a tree of Windows (root `desktop`) the windows are direct children of the root, whatever their roles, and `visible`
marks what is shown. Its widgets are mapped to Linux terms: `showing`, and the window's class as application.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from backend.domain.errors import Invalid

WINDOW_ROLES = frozenset({"frame", "dialog", "alert", "window", "file-chooser", "color-chooser", "font-chooser"})
_PAIR = re.compile(r"\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)")
_FAR = 30000  # widgets scrolled out of a table report coordinates far off any screen


@dataclass(frozen=True)
class Widget:
    """One element of the tree.

    Attributes:
        role: role in the tree, with dashes: `push-button`; on Windows a window's class: `edit`, `button`.
        text: its content, for example of an entry or label.
        states: names such as `showing`, `sensitive`, `checked`.
        rect: (x, y, width, height) in screen pixels, None if it has none.
        value: value of a slider or spin button.
        app: name of its application.
        windows: names of the enclosing windows, outermost first.
        in_active: True inside the active window.
    """

    role: str
    name: str
    text: str
    states: frozenset[str]
    rect: tuple[int, int, int, int] | None
    value: float | None
    app: str
    windows: tuple[str, ...]
    in_active: bool

    @property
    def on_screen(self) -> bool:
        """True if it is visible where it can be clicked."""
        return (
            self.rect is not None
            and "showing" in self.states
            and self.rect[2] > 0
            and self.rect[3] > 0
            and 0 <= self.rect[0] < _FAR
            and 0 <= self.rect[1] < _FAR
        )


@dataclass(frozen=True)
class _Place:
    app: str = ""
    windows: tuple[str, ...] = ()
    active: bool = False
    depth: int = field(default=0, compare=False)


_WINDOWS_ROOT = "desktop"


def widgets(xml: str) -> list[Widget]:
    """All widgets in document order.

    Raises:
        Invalid: it is not XML, or declares entities.
    """
    try:
        root = fromstring(xml)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise Invalid(f"the accessibility tree cannot be read: {error}", code="invalid_accessibility_tree") from error
    if _local(root.tag) == _WINDOWS_ROOT:
        return [element for window in root for element in _walk(window, _window(window), visible_state="visible")]
    return list(_walk(root, _Place()))


def _window(element: Element) -> _Place:
    """Whether an element is a window of Windows."""
    values = {_local(key): value for key, value in element.attrib.items()}
    name, active = values.get("name", ""), values.get("active") == "true"
    return _Place(app=_local(element.tag), windows=(name,), active=active)


def _walk(element: Element, position: _Place, visible_state: str = "showing") -> Iterator[Widget]:
    """Walks an element and its descendants. `visible_state`: the attribute that marks visible elements."""
    values = {_local(key): value for key, value in element.attrib.items()}
    role, name = _local(element.tag), values.get("name", "")
    states = frozenset(key for key, value in values.items() if value == "true" and key != "name")
    if visible_state in states:
        states |= {"showing"}
    if role == "application":
        position = _Place(app=name, depth=position.depth)
    elif role in WINDOW_ROLES:
        position = _Place(
            position.app, (*position.windows, name), position.active or "active" in states, position.depth
        )
    yield Widget(
        role=role,
        name=name,
        text=element.text or "",
        states=states,
        rect=_rect(values),
        value=_number(values.get("value")),
        app=position.app,
        windows=position.windows,
        in_active=position.active,
    )
    for child in element:
        yield from _walk(child, position, visible_state)


def _local(name: str) -> str:
    return name.rsplit("}", 1)[-1]


def _rect(values: dict[str, str]) -> tuple[int, int, int, int] | None:
    corner, size = _PAIR.search(values.get("screencoord", "")), _PAIR.search(values.get("size", ""))
    if corner is None or size is None:
        return None
    return int(corner[1]), int(corner[2]), int(size[1]), int(size[2])


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


NAMESPACES = {
    "st": "state",
    "attr": "attributes",
    "cp": "component",
    "doc": "document",
    "docattr": "document/attributes",
    "txt": "text",
    "val": "value",
    "act": "action",
    "class": "class",
    "role": "role",
}
"""Prefix used by selectors -> last part of the namespace, in newer trees."""
_NEW = "https://accessibility.{system}.example.org/ns/"
_DECLARED = re.compile(
    r"""(?P<head>xmlns:[\w.-]+\s*=\s*["'])(?:https://accessibility\.\w+\.example\.org/ns/(?P<new>[\w/]+)"""
    r"""|uri:deskat:(?P<old>[\w.]+?)\.at-spi\.gnome\.org)(?=["'])"""
)


def namespaces(system: str = "ubuntu") -> dict[str, str]:
    """Prefix -> namespace, as declared by trees of that system (OSWorld's names)."""
    return {prefix: _NEW.format(system=system) + name for prefix, name in NAMESPACES.items()}


def searchable(xml: str, *, as_written: bool = False) -> Any:
    """The tree for XPath and CSS selectors (lxml), with all namespaces mapped to those of Ubuntu.

    Args:
        xml: the tree.
        as_written: keep the original namespaces.

    Raises:
        Invalid: it is not XML, or declares entities.
    """
    from lxml import etree

    if "<!DOCTYPE" in xml or "<!ENTITY" in xml:
        raise Invalid("the accessibility tree cannot be read: it defines entities", code="invalid_accessibility_tree")
    text = xml if as_written else _DECLARED.sub(_to_new, xml)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(text.encode(), parser=parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Invalid(f"the accessibility tree cannot be read: {error}", code="invalid_accessibility_tree") from error


def _to_new(match: re.Match[str]) -> str:
    name = match["new"] or "/".join(reversed(match["old"].split(".")))  # `attributes.document`, WindowsAgentArena's
    return match["head"] + _NEW.format(system="ubuntu") + name
