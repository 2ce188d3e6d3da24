"""Replaces alternatives for newer programs (`mc:AlternateContent`) by the one that Office shows.

Source: ECMA-376, part 3, 9.3.
"""

from typing import Any

Element = Any
"""An lxml element of an Office file."""

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_ALTERNATE, _CHOICE, _FALLBACK = (f"{_COMPATIBILITY}{name}" for name in ("AlternateContent", "Choice", "Fallback"))
_OFFICE = ("http://schemas.microsoft.com/office/", "http://schemas.openxmlformats.org/", "urn:schemas-microsoft-com:")
"""Prefixes of the namespaces that Office supports."""


def resolve_alternates(root: Element) -> None:
    """Changes the elements below the root in place."""
    for alternate in list(root.iter(_ALTERNATE)):
        put_in_place(alternate, _understood(alternate))


def put_in_place(element: Element, content: Element | None) -> None:
    """Puts the children of `content` in the element's place."""
    parent = element.getparent()
    if parent is None:
        return
    for inner in [] if content is None else list(content):
        element.addprevious(inner)
    parent.remove(element)


def _understood(alternate: Element) -> Element | None:
    """The first choice that needs nothing but Office's own extensions, else the fallback."""
    for choice in alternate.iterchildren(_CHOICE):
        names = [choice.nsmap.get(prefix, "") for prefix in choice.get("Requires", "").split()]
        if all(name.startswith(_OFFICE) for name in names):
            return choice
    return next(alternate.iterchildren(_FALLBACK), None)
