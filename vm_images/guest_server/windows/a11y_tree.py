"""A Windows accessibility tree as XML, in OSWorld's or WindowsAgentArena's form. Pure: uses a `Source`, not Windows.

Both projects use pywinauto: the tag is the control's class in lower case, the attributes are its states, position,
values and kind. They differ only in the names of the namespaces.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar
from xml.etree.ElementTree import Element, register_namespace

from guest_server.protocol.a11y_xml import clean, to_text
from guest_server.protocol.machine import Tree, TreeRequest

N = TypeVar("N")

_OSWORLD = "https://accessibility.windows.example.org/ns/"
_PARTS = {"st": "state", "attr": "attributes", "cp": "component", "txt": "text", "val": "value", "act": "action"}
NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "osworld": {
            **{prefix: _OSWORLD + part for prefix, part in _PARTS.items()},
            "class": _OSWORLD + "class",
            "id": _OSWORLD + "id",
        },
        "waa": {
            **{prefix: f"uri:deskat:{part}.at-spi.gnome.org" for prefix, part in _PARTS.items()},
            "class": "uri:deskat:uia.windows.microsoft.org",
            "id": "uri:deskat:attributes.at-spi.gnome.org",
        },
    }
)
"""Form -> prefix -> namespace. The first identifies a control, the second is WindowsAgentArena's `win`."""
_NOT_IN_TAG = re.compile(r"[^\w-]", re.ASCII)


@dataclass(frozen=True)
class ControlInfo:
    """Properties of a control.

    Attributes:
        name: display name.
        tag: its class, or its kind if it has no class.
        kind: `Button`, `Edit`: the kind of control.
        text: its content, if it differs from its name.
        box: left, top, width, height in screen pixels; None without a position.
        states: name -> whether it applies.
        values: `value`, `min`, `max`, `step`.
        identity: further names, such as `automation_id`.
    """

    name: str
    tag: str
    kind: str = ""
    text: str = ""
    box: tuple[int, int, int, int] | None = None
    states: Mapping[str, bool] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    identity: Mapping[str, str] = field(default_factory=dict)


class Source(Protocol[N]):
    """Source of controls."""

    def windows(self) -> Sequence[N]:
        """The top-level windows, topmost first."""
        ...

    def children(self, node: N) -> Sequence[N]:
        """Direct children of a control. Raises GoneError."""
        ...

    def control_info(self, node: N) -> ControlInfo:
        """Properties of a control. Raises GoneError."""
        ...


class GoneError(Exception):
    """A control is gone, or its program does not respond: it is left out."""


def tag_of(name: str) -> str:
    """A class as the name of an element."""
    tag = _NOT_IN_TAG.sub("-", name.strip().lower())
    if not tag:
        return "unknown"
    return tag if tag[0].isalpha() else f"tag{tag}"


class ControlWalk(Generic[N]):
    """One walk with its bounds."""

    def __init__(self, source: Source[N], options: TreeRequest) -> None:
        self._source = source
        self._request = options
        self._names = NAMES[options.names]
        for prefix in sorted(self._names, reverse=True):  # `id` may be another word for `attr`, which stays.
            register_namespace(prefix, self._names[prefix])
        self._deadline = time.monotonic() + options.seconds
        self._count = 1
        self._cut = ""

    def desktop(self) -> Tree:
        """The tree of all windows."""
        root = Element("desktop")
        for window in self._source.windows():
            if self._full():
                break
            self._add(root, window, 1)
        return Tree(to_text(root), self._count, self._cut)

    def _full(self) -> bool:
        if self._count >= self._request.nodes:
            self._cut = f"more than {self._request.nodes} nodes"
        elif time.monotonic() > self._deadline:
            self._cut = "the time was over"
        else:
            return False
        return True

    def _add(self, parent: Element, node: N, depth: int) -> None:
        try:
            control = self._source.control_info(node)
        except GoneError:
            self._cut = self._cut or "a control did not answer"
            return
        self._count += 1
        xml_node = self.element(control)
        parent.append(xml_node)
        try:
            children = self._source.children(node)
        except GoneError:
            self._cut = self._cut or "a control did not answer"
            return
        if children and depth >= self._request.depth:
            self._cut = f"deeper than {self._request.depth} levels"
            return
        if len(children) > self._request.children:
            self._cut = f"a control has more than {self._request.children} children"
        for child in children[: self._request.children]:
            if self._full():
                return
            self._add(xml_node, child, depth + 1)

    def element(self, control: ControlInfo) -> Element:
        xml_node = Element(tag_of(control.tag), {"name": clean(control.name)})
        for name, holds in control.states.items():
            self._put(xml_node, "st", name, str(holds).lower())
        if control.box is not None:
            x, y, width, height = control.box
            self._put(xml_node, "cp", "screencoord", f"({x}, {y})")
            self._put(xml_node, "cp", "size", f"({width}, {height})")
        for prefix, values in (("val", control.values), ("id", control.identity)):
            for name, value in values.items():
                self._put(xml_node, prefix, name, value)
        if control.kind:
            self._put(xml_node, "class", "class", control.kind)
        if control.text and control.text != control.name:
            xml_node.text = clean(control.text)
        return xml_node

    def _put(self, node: Element, prefix: str, name: str, value: str) -> None:
        node.set(f"{{{self._names[prefix]}}}{name}", clean(value))
