"""Which elements of an accessibility tree count, and how its attributes are called: protocols §4."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

_BEGINS = "document"
_ENDS = (
    "item", "button", "heading", "label", "scrollbar", "searchbox", "textbox", "link", "tabelement", "textfield",
    "textarea", "menu",
)  # fmt: skip
_TAGS = frozenset({
    "alert", "canvas", "check-box", "combo-box", "entry", "icon", "image", "paragraph", "scroll-bar", "section",
    "slider", "static", "table-cell", "terminal", "text", "netuiribbontab", "start", "trayclockwclass",
    "traydummysearchcontrol", "uiimage", "uiproperty", "uiribboncommandbar",
})  # fmt: skip
PAIR = re.compile(r"\(\s*(\d{1,7})\s*,\s*(\d{1,7})\s*\)")
"""Not negative: elements that begin outside the screen are left out."""


class TreeElement(NamedTuple):
    """One element that the filter keeps; its box in pixels of the screen."""

    tag: str
    name: str
    text: str
    kind: str
    description: str
    x: int
    y: int
    width: int
    height: int


class Names:
    """How a document writes the attributes that count, whichever project's namespaces it uses."""

    def __init__(self, families: Mapping[str, str]) -> None:
        """Args: families: `state`, `component`, ... to how names of that namespace begin in the document."""
        state, component = families.get("state", NEVER), families.get("component", NEVER)
        self.showing, self.visible = f"{state}showing", f"{state}visible"
        self.enabled, self.editable = f"{state}enabled", f"{state}editable"
        self.expandable, self.checkable = f"{state}expandable", f"{state}checkable"
        self.place, self.size = f"{component}screencoord", f"{component}size"
        attributes = families.get("attributes", NEVER)
        self.description = f"{attributes}description"
        self.kind, self.windows_kind = f"{attributes}class", f"{families.get('class', NEVER)}class"
        self.value = f"{families.get('value', NEVER)}value"


NEVER = " "
"""Begins no name."""
_FAMILY = re.compile(
    r"https://accessibility\.(?:ubuntu|windows)\.example\.org/ns/(?P<new>[a-z]+)|"
    r"uri:deskat:(?:(?P<old>[a-z]+)\.at-spi\.gnome\.org|(?P<uia>uia\.windows\.microsoft\.org))"
)


def family(uri: str) -> str:
    """Which namespace that is, in OSWorld's words; empty for others."""
    match = _FAMILY.fullmatch(uri)
    if match is None:
        return ""
    return "class" if match["uia"] else match["new"] or match["old"]


@lru_cache(maxsize=1024)
def is_wanted(tag: str) -> bool:
    """Whether elements with that tag count."""
    return tag in _TAGS or tag.startswith(_BEGINS) or tag.endswith(_ENDS)


@lru_cache(maxsize=4096)
def pair(text: str) -> tuple[int, int] | None:
    """Two numbers; elements have few different sizes."""
    match = PAIR.match(text)
    return None if match is None else (int(match[1]), int(match[2]))


make_node: Callable[[type[TreeElement], tuple[Any, ...]], TreeElement] = tuple.__new__
"""A node of its fields in a third of the time."""
