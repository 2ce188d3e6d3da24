"""XML of the accessibility tree, in the form of OSWorld's tasks: tag = role, attributes in namespaces."""

import re
from xml.etree.ElementTree import Element, register_namespace, tostring

_BASE = "https://accessibility.ubuntu.example.org/ns/"
NAMESPACES = {
    "st": _BASE + "state",
    "attr": _BASE + "attributes",
    "cp": _BASE + "component",
    "doc": _BASE + "document",
    "docattr": _BASE + "document/attributes",
    "txt": _BASE + "text",
    "val": _BASE + "value",
    "act": _BASE + "action",
}
"""Prefix -> namespace, as OSWorld's Ubuntu guests give them."""

# Characters that are invalid in XML 1.0, and placeholders of embedded objects.
_UNWANTED = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\ufffc\ufffd]")
_NOT_IN_NAME = re.compile(r"[^\w.-]", re.ASCII)

for _prefix, _uri in NAMESPACES.items():
    register_namespace(_prefix, _uri)


def clean(text: str) -> str:
    """The text without characters that XML cannot carry."""
    return _UNWANTED.sub("", text)


def xml_name(text: str, default: str = "unknown") -> str:
    """A role or key as an XML name: `push button` becomes `push-button`."""
    name = _NOT_IN_NAME.sub("-", text.strip().replace(" ", "-"))
    if not name:
        return default
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def qualified_name(prefix: str, name: str) -> str:
    """ElementTree's form of a name in one of our namespaces."""
    return f"{{{NAMESPACES[prefix]}}}{xml_name(name)}"


def element(role: str, name: str) -> Element:
    """An element for one accessible object."""
    return Element(xml_name(role), {"name": clean(name)})


def put(node: Element, prefix: str, name: str, value: object) -> None:
    """Sets an attribute in a namespace."""
    node.set(qualified_name(prefix, name), clean(str(value)))


def to_text(root: Element) -> str:
    return tostring(root, encoding="unicode")
