"""Repairs packages that Word, PowerPoint and LibreOffice open, but python-docx and python-pptx reject.

These are files saved as "Strict Open XML" (other names of the same namespaces), relationships to parts that are not in
the package (`NULL`, a bookmark), part names with another letter case or backslashes, and documents declared as
template, slide show or file with macros. Source: ECMA-376, part 2 (packages), ISO/IEC 29500-4 (namespaces).
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Mapping
from urllib.parse import unquote

_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_NAME = re.compile(rb'(=\s*["\'])http://purl\.oclc\.org/ooxml/(\w+)/([^"\']*)')
_HYPHENATED = {b"extendedProperties": b"extended-properties", b"customProperties": b"custom-properties"}
_HEAD = 8192
"""Bytes at the start of a part that contain the namespace of its root element."""
_TYPES = "[Content_Types].xml"
_MAIN_TYPES = (
    (
        re.compile(
            rb"application/vnd\.(ms-word\.(document|template)\.macroEnabled(Template)?"
            rb"|openxmlformats-officedocument\.wordprocessingml\.template)\.main\+xml"
        ),
        b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
    (
        re.compile(
            rb"application/vnd\.(ms-powerpoint\.(presentation|template|slideshow|addin)\.macroEnabled"
            rb"|openxmlformats-officedocument\.presentationml\.(template|slideshow))\.main\+xml"
        ),
        b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    ),
)
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_OUTSIDE_TYPES = ("/hyperlink", "/image")
"""Relationships that may be external; others without a target are removed."""


def openable(path: str) -> str | io.BytesIO:
    """The path if nothing needs repair, else an uncompressed repaired copy of the package.

    Args:
        path: of a package that `packages.check_package` accepts, which bounds its size.
    """
    with zipfile.ZipFile(path) as package:
        members = {name.replace("\\", "/"): name for name in package.namelist()}
        parts = {name.lower(): name for name in members}
        changed: dict[str, bytes] = {}
        for name, stored in members.items():
            if not name.lower().endswith((".xml", ".rels")):
                continue
            with package.open(stored) as member:
                head = member.read(_HEAD)
                if _STRICT in head or name == _TYPES or name.endswith(".rels"):
                    data = head + member.read()
                    repaired = _repair(name, data, parts)
                    if repaired != data:
                        changed[name] = repaired
        if not changed and all(name == stored for name, stored in members.items()):
            return path
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as copy:
            for name, stored in members.items():
                copy.writestr(name, changed[name] if name in changed else package.read(stored))
    out.seek(0)
    return out


def _repair(name: str, data: bytes, parts: Mapping[str, str]) -> bytes:
    if _STRICT in data:
        data = _STRICT_NAME.sub(_transitional, data)
    if name == _TYPES:
        for pattern, content_type in _MAIN_TYPES:
            data = pattern.sub(content_type, data)
    return _relations(name, data, parts) if name.endswith(".rels") else data


def _transitional(match: re.Match[bytes]) -> bytes:
    start, family, suffix = match.groups()
    name = b"/".join(_HYPHENATED.get(part, part) for part in suffix.split(b"/"))
    return start + b"http://schemas.openxmlformats.org/" + family + b"/2006/" + name


def _relations(name: str, data: bytes, parts: Mapping[str, str]) -> bytes:
    """Makes each relationship point to one of the parts (by their names in small letters), or removes it."""
    from lxml import etree

    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return data  # Its reader says what is wrong with it.
    folder = posixpath.dirname(posixpath.dirname(name))
    changed = False
    for relation in root.findall(_RELATION):
        target = relation.get("Target", "")
        if relation.get("TargetMode") == "External":
            continue
        target_name = posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/"))).lstrip("/")
        part = parts.get(target_name.lower()) or parts.get(unquote(target_name.split("#")[0]).lower())
        if part == target_name:
            continue
        changed = True
        if part is not None:
            relation.set("Target", f"/{part}")
        elif relation.get("Type", "").endswith(_OUTSIDE_TYPES):
            relation.set("TargetMode", "External")
        else:
            root.remove(relation)
    return bytes(etree.tostring(root, encoding="UTF-8", standalone=True)) if changed else data
