"""Extracts the text of a file of any application: document, workbook, presentation, PDF or plain text."""

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from backend.domain.formats import pdf
from backend.domain.formats.alternate_content import resolve_alternates
from backend.domain.formats.cell_text import cell_texts
from backend.domain.formats.documents import cell_paragraphs, read_document, text_of, texts
from backend.domain.formats.odt import odt_texts, read_odt
from backend.domain.formats.sheet import DamagedWorkbook, StoredCell, bounds
from backend.domain.formats.slides import look_into
from backend.domain.formats.text import read_text
from backend.domain.formats.word_wrappers import resolve_wrappers, w
from backend.domain.formats.workbook import Workbook, read_workbook

if TYPE_CHECKING:
    from docx.document import Document
    from pptx.presentation import Presentation

_ASIDES = {"header", "footer", "footnotes", "endnotes"}
TextOrError = tuple[str | None, str]
"""The text, or None and the reason."""


def read_any_text(path: str | None) -> TextOrError:
    """The text of a file by its suffix: cells and paragraphs are lines. None and a reason if it cannot be read."""
    reader = _READERS.get(PurePath(path or "").suffix.lower(), read_text)
    return reader(path)


def read_cell(path: str | None, sheet: str, address: str) -> TextOrError:
    """The text that a workbook's cell shows, beside it its stored value if that differs; or None and the reason."""
    book, reason = read_workbook(path)
    if book is None:
        return None, reason
    area = bounds(address)
    try:
        worksheet = book.sheet(sheet)
    except DamagedWorkbook as error:
        return None, str(error)
    if worksheet is None or area is None:
        return None, f"there is no cell {address} on a sheet {sheet!r}"
    return "\n".join(_cell_texts(book, worksheet.at(area[0], area[1]))), ""


def _document(path: str | None) -> TextOrError:
    def take(document: "Document") -> str:
        return "\n".join([*texts(document), *map(text_of, cell_paragraphs(document)), *_asides(document)])

    return read_document(path, take)


def _asides(document: "Document") -> Iterator[str]:
    """The text beside a document's body: text boxes, headers, footers, footnotes and endnotes."""
    from lxml import etree

    body = document.element.body
    yield from (text_of(paragraph) for box in body.iter(w("txbxContent")) for paragraph in box.iterchildren(w("p")))
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype.rpartition("/")[2] not in _ASIDES:
            continue
        root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
        resolve_wrappers(root)
        yield from (text for paragraph in root.iter(w("p")) if (text := text_of(paragraph)))


def _open_document(path: str | None) -> TextOrError:
    """Text of an OpenDocument text, workbook or presentation: all use the same paragraph elements."""
    return read_odt(path, lambda document: "\n".join(odt_texts(document)))


def _deck(path: str | None) -> TextOrError:
    def take(deck: "Presentation") -> str:
        for slide in deck.slides:
            resolve_alternates(slide.shapes._spTree)  # noqa: SLF001 - no public way to the element.
        return "\n".join(text for slide in deck.slides for text in [*_shapes(slide.shapes), *_notes(slide)])

    return look_into(path, take)


def _notes(slide: Any) -> Iterator[str]:
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if frame is not None and frame.text:
        yield frame.text


def _shapes(shapes: Any) -> Iterator[str]:
    for shape in shapes:
        if shape.has_text_frame:
            yield shape.text_frame.text
        elif getattr(shape, "has_table", False):
            yield from (cell.text for row in shape.table.rows for cell in row.cells)
        elif hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)


def _workbook(path: str | None) -> TextOrError:
    book, reason = read_workbook(path)
    if book is None:
        return None, reason
    try:
        return "\n".join(_cells(book)), ""
    except DamagedWorkbook as error:
        return None, str(error)


def _cells(book: Workbook) -> Iterator[str]:
    for name in book.names:
        sheet = book.sheet(name)
        if sheet is not None:
            yield from (text for cell in sheet.cells() for text in _cell_texts(book, cell))


def _cell_texts(book: Workbook, cell: StoredCell) -> list[str]:
    return cell_texts(cell.value, book.styles.look(cell.style).number_format or "", epoch_1904=book.epoch_1904)


def _pdf(path: str | None) -> TextOrError:
    try:
        return pdf.read_text(path), ""
    except pdf.PdfRefused as error:
        return None, str(error)


_READERS: dict[str, Callable[[str | None], TextOrError]] = {
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), _document),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), _workbook),
    **dict.fromkeys((".pptx", ".pptm", ".potx", ".ppsx"), _deck),
    ".pdf": _pdf,
    **dict.fromkeys((".odt", ".ott", ".ods", ".odp"), _open_document),
}
