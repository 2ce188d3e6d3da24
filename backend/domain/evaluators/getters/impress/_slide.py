"""Parts of a slide of a .pptx file: in the package, or in linked files.

Relationships as in ECMA-376 part 2, section 9.3: type, target, and whether the target is external.
"""

import posixpath
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import fetch_file, json_value, python_says, write_blob
from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import check_archive
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

MAX_XML = 16 * 2**20
_RELS = "ppt/slides/_rels/slide{}.xml.rels"
# Runs inside the desktop, so that the worker never opens an archive of the agent. Prints the XML or null.
_PRINT_RELS = """
import os, zipfile
found = None
try:
    with zipfile.ZipFile(os.path.expanduser(VALUES["path"])) as package:
        with package.open(VALUES["part"]) as part:
            found = part.read(200000).decode("utf-8", "replace")
except Exception:  # Whatever a damaged archive makes its reader stumble over.
    pass
print(json.dumps(found))
"""


class SlidePart(Parameters):
    """`ppt_file_path`, `slide_index` (from 0), `dest`, the copy's name for an external target."""

    ppt_file_path: str
    slide_index: int
    dest: str


@dataclass(frozen=True)
class Relationship:
    """A relationship of a slide. `outside`: the target is a file of the desktop, not a part of the package."""

    id: str
    type: str
    target: str
    outside: bool


def links(rels: bytes | str) -> list[Relationship]:
    """The relationships in a `.rels` part; empty if it is damaged."""
    try:
        root = fromstring(rels)
    except (ParseError, DefusedXmlException, ValueError):
        return []
    return [_link(node) for node in root.iter() if node.tag.endswith("}Relationship")]


def _link(node: Element) -> Relationship:
    target = node.get("Target", "")
    outside = node.get("TargetMode") == "External" or urlsplit(target).scheme == "file"
    return Relationship(id=node.get("Id", ""), type=node.get("Type", ""), target=target, outside=outside)


def first(candidates: Sequence[Relationship], kind: str, link_id: str | None = None) -> Relationship | None:
    """The first relationship of that kind (`audio`, `image`), or the one with that id."""
    fit = (link for link in candidates if kind in link.type and link_id in {None, link.id})
    return next(fit, None)


def desktop_path(link: Relationship, presentation: str) -> str:
    """The path of a link's target; a relative link starts at the presentation's folder."""
    target = unquote(link.target)
    path = target.removeprefix("file://")
    if path[:1] == "/" and path[2:3] == ":":
        return path[1:]  # file:///C:/...
    if path[:1] in {"/", "\\"} or path[1:2] == ":":
        return path
    return f"{presentation[: max(presentation.rfind('/'), presentation.rfind(chr(92))) + 1]}{path}"


def gather(context: SetupContext, params: SlidePart, kind: str) -> list[Blob]:
    """The presentation, the slide's relationships, and every linked file of that kind."""
    path = params.ppt_file_path
    reply = python_says(context, f"links of slide {params.slide_index}", _PRINT_RELS, path=path, part=_name(params))
    rels = json_value(reply) if reply.data is not None else None
    outside = [link for link in links(rels) if link.outside and kind in link.type] if isinstance(rels, str) else []
    return [fetch_file(context, path), reply, *(fetch_file(context, desktop_path(link, path)) for link in outside[:3])]


def _name(params: SlidePart) -> str:
    return _RELS.format(params.slide_index + 1)


class PptxPackage:
    """An untrusted .pptx file; damaged parts count as missing."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fine = not check_archive(path)

    def part(self, name: str) -> bytes | None:
        """The bytes of a part."""
        if not self._fine:
            return None
        try:
            with zipfile.ZipFile(self._path) as package:
                return package.read(name)
        except Exception as error:  # noqa: BLE001 - zip and each of its compressions have errors of their own.
            let_through(error)
            return None

    def links_of(self, params: SlidePart) -> list[Relationship]:
        """The relationships of the slide."""
        return links(self.part(_name(params)) or b"")

    def xml(self, name: str) -> Element | None:
        """The root of an XML part."""
        data = self.part(name)
        try:
            return None if data is None or len(data) > MAX_XML else fromstring(data)
        except (ParseError, DefusedXmlException, ValueError):
            return None


def open_package(blobs: Sequence[Blob], folder: Path) -> PptxPackage | None:
    """The collected presentation; None if it was absent."""
    if len(blobs) < 2:  # noqa: PLR2004 - the file and its links.
        raise EvaluatorFailed(
            f"expected a presentation and its links, got {len(blobs)} pieces of evidence", code="evidence_mismatch"
        )
    path = write_blob(blobs[0], "presentation.pptx", folder / "presentation")
    return None if path is None else PptxPackage(path)


def link_target(
    link: Relationship | None, package: PptxPackage, params: SlidePart, blobs: Sequence[Blob], folder: Path
) -> str | None:
    """The path of a copy of the link's target, in the package or outside; None without a link.

    Raises:
        EvaluatorFailed: the target is external, and the desktop did not say to what the slide links.
    """
    if link is None:
        return None
    if not link.outside:
        return _inside(package, link, folder)
    path = desktop_path(link, params.ppt_file_path)
    for blob in blobs[2:]:
        if blob.name == path:
            return write_blob(blob, params.dest, folder)
    if blobs[1].data is not None:
        return None  # One of too many links, or one that was hidden from the collection.
    raise EvaluatorFailed(
        f"{path}, to which the slide links, was not collected: {blobs[1].note or 'no reason given'}",
        code="evidence_missing",
    )


def _inside(package: PptxPackage, link: Relationship, folder: Path) -> str | None:
    name = posixpath.normpath(posixpath.join("/ppt/slides", link.target.replace("\\", "/"))).lstrip("/")
    return write_blob(Blob(name=name, data=package.part(name)), PurePosixPath(name).name, folder)
