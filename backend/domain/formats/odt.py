"""Reads text documents of the OpenDocument format (.odt).

Source of the element names: OpenDocument 1.3, part 3.
"""

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import check_package

T = TypeVar("T")
Element = Any
"""An lxml element of OpenDocument."""

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_CONTENT_CONTROL = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}content-control"
"""LibreOffice's extension, as it writes Word's content controls."""
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_ASIDE = (f"{_TEXT}tracked-changes", f"{_OFFICE}annotation")
"""Elements whose paragraphs are not of the text: deleted ones and comments."""
_CHARACTERS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_NOT_INLINE = {f"{_TEXT}{name}" for name in ("note", "number", "ruby-text", "script", "hidden-text")}
_VOLATILE = {
    f"{_TEXT}{name}"
    for name in ("page-number", "page-count", "page-continuation", "editing-duration", "editing-cycles")
}
_OF_SAVING = {
    f"{_TEXT}{name}"
    for name in ("date", "time", "modification-date", "modification-time", "print-date", "print-time", "file-name")
}
"""Fields that show when the document was opened, saved or printed last and its name, unless they are fixed."""
_PAGE_REFERENCES = {"page", "direction"}
_BLANKS = re.compile(r"[ \t\r\n]+")
_MOST_SPACES = 10_000


@dataclass(frozen=True)
class Odt:
    """The two parts of a document that hold text: `styles.xml` (headers and footers, named styles), `content.xml`."""

    styles: Element
    content: Element

    def spans(self) -> Iterator[tuple[str, Element]]:
        """Every span with the name of its style."""
        for root in (self.styles, self.content):
            yield from ((span.get(f"{_TEXT}style-name", ""), span) for span in root.iter(f"{_TEXT}span"))


def read_odt(path: str | None, take: Callable[[Odt], T]) -> tuple[T | None, str]:
    """The result of `take` on the opened document, or the reason; see `documents.read_document`."""
    reason = check_package(path)
    if reason:
        return None, reason
    try:
        with zipfile.ZipFile(str(path)) as package:
            styles = "styles.xml" if "styles.xml" in package.namelist() else None  # A document may have none.
            return take(Odt(_parse(package, styles), _parse(package, "content.xml"))), ""
    except Exception as error:  # noqa: BLE001 - zip, XML and structure may each be damaged in their own way.
        let_through(error, path)
        return None, f"the document is damaged: {type(error).__name__}"


def odt_texts(document: Odt) -> list[str]:
    """The text of every paragraph and heading, without comments, deleted text and fields that change by themselves."""
    return ["".join(text for text, _ in pieces(paragraph)) for paragraph in odt_paragraphs(document)]


def odt_texts_as_published(document: Odt) -> list[str]:
    """The text of every paragraph as the published evaluators read it: without headings, links and blank elements."""
    texts = []
    for root in (document.styles, document.content):
        for paragraph in root.iter(f"{_TEXT}p"):
            parts = [paragraph.text or ""]
            for child in paragraph:
                if child.tag == f"{_TEXT}span":
                    parts += [child.text or "", *(inner.tail or "" for inner in child)]
                parts.append(child.tail or "")
            texts.append("".join(parts))
    return texts


def odt_paragraphs(document: Odt) -> Iterator[Element]:
    """Paragraphs and headings, first those of headers and footers."""
    for root in (document.styles, document.content):
        for paragraph in root.iter(*_PARAGRAPHS):
            if next(paragraph.iterancestors(*_ASIDE), None) is None:
                yield paragraph


def pieces(paragraph: Element) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The texts of a paragraph, each with the styles that apply to it, nearest first.

    White space of the XML counts as one blank, none at the ends of the paragraph (part 3, 6.1.2).
    """
    empty, blank = True, None
    for text, styles, as_written in _pieces(paragraph, (paragraph.get(f"{_TEXT}style-name", ""),)):
        visible_text = _BLANKS.sub(" ", text) if as_written else text
        if as_written and visible_text.startswith(" "):
            visible_text = visible_text[1:]
            blank = None if empty else blank or styles
        if not visible_text:
            continue
        if blank is not None:
            yield " ", blank
            blank = None
        if as_written and visible_text.endswith(" "):
            visible_text, blank = visible_text[:-1], styles
        yield visible_text, styles
        empty = False


class OdtBackgrounds:
    """Background colours of text by style names.

    Args:
        document: the open document.
        automatic_only: ignore named styles and inheritance.
    """

    def __init__(self, document: Odt, *, automatic_only: bool = False) -> None:
        self._styles: dict[str, tuple[str | None, str]] = {}
        for style in _styles(document, f"{_OFFICE}automatic-styles" if automatic_only else None):
            properties = style.find(f"{_STYLE}text-properties")
            color = None if properties is None else properties.get(f"{_FO}background-color")
            parent = "" if automatic_only else style.get(f"{_STYLE}parent-style-name", "")
            self._styles[style.get(f"{_STYLE}name", "")] = color, parent

    def color_of(self, names: tuple[str, ...]) -> str:
        """The colour as `#rrggbb` in lower case; `transparent` by default."""
        return next((color.lower() for name in names for color in self._chain(name) if color), "transparent")

    def _chain(self, name: str) -> Iterator[str | None]:
        names = set()
        while name in self._styles and name not in names:
            names.add(name)
            color, name = self._styles[name]
            yield color


def _styles(document: Odt, group: str | None) -> Iterator[Element]:
    for root in (document.styles, document.content):
        for style in root.iter(f"{_STYLE}style"):
            if style.get(f"{_STYLE}family") in {"text", "paragraph"} and group in {None, style.getparent().tag}:
                yield style


def _parse(package: zipfile.ZipFile, name: str | None) -> Element:
    from lxml import etree

    if name is None:
        return etree.Element(f"{_OFFICE}document-styles")
    return etree.fromstring(package.read(name), etree.XMLParser(resolve_entities=False, no_network=True))


def _pieces(element: Element, styles: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Text, styles, and True for text of the XML, whose white space still has to be collapsed."""
    if element.text:
        yield element.text, styles, True
    for child in element:
        if child.tag in _CHARACTERS:
            yield _CHARACTERS[child.tag], styles, False
        elif child.tag == f"{_TEXT}s":
            yield " " * min(int(child.get(f"{_TEXT}c", "1")), _MOST_SPACES), styles, False
        elif _is_inline(child):
            name = child.get(f"{_TEXT}style-name")
            yield from _pieces(child, (name, *styles) if name else styles)
        if child.tail:
            yield child.tail, styles, True


def _is_inline(element: Element) -> bool:
    """Whether an element's text is part of the line: spans, links, fields. Frames and comments are beside it."""
    tag = element.tag
    if tag == _CONTENT_CONTROL:
        return True
    if not isinstance(tag, str) or not tag.startswith(_TEXT) or tag in _NOT_INLINE or tag in _VOLATILE:
        return False
    if element.get(f"{_TEXT}reference-format") in _PAGE_REFERENCES or element.get(f"{_TEXT}display") == "none":
        return False
    return tag not in _OF_SAVING or element.get(f"{_TEXT}fixed") == "true"
