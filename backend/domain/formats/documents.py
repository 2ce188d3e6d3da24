"""Reads untrusted Word documents (.docx): text, tables, pictures.

python-docx opens the package. Text follows its definition (runs of a paragraph, tabs and line breaks as characters),
but is read from the elements directly, which is ten times faster, after `word_wrappers` has resolved insertions,
content controls and the like. Formatting is in `document_styles`. Source of the element names: ECMA-376, part 1,
section 17.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from backend.domain.formats.failures import let_through
from backend.domain.formats.package_repair import openable
from backend.domain.formats.packages import check_package
from backend.domain.formats.word_wrappers import Element, resolve_wrappers, w

if TYPE_CHECKING:
    from docx.document import Document

T = TypeVar("T")
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_VML = "{urn:schemas-microsoft-com:vml}"
MAX_SPAN = 63
"""Columns of a table, Word's limit."""


def child(element: Element | None, name: str) -> Element | None:
    """The first child of that name, if there is one."""
    return None if element is None else next(element.iterchildren(w(name)), None)


_RUN, _LINK, _TEXT, _BREAK, _TYPE = map(w, ("r", "hyperlink", "t", "br", "type"))
_CHARACTERS = {w("tab"): "\t", w("ptab"): "\t", w("cr"): "\n", w("noBreakHyphen"): "-"}


def read_document(
    path: str | None, take: Callable[["Document"], T], *, as_stored: bool = False
) -> tuple[T | None, str]:
    """The result of `take` on the opened document, or the reason: missing, not a document, damaged, too large.

    Args:
        path: the file.
        take: called with the open document; its exceptions count as damage of the file, so it must only read.
        as_stored: open and read the file as the published evaluators do: files that python-docx rejects are damaged,
            text inside insertions, content controls and the like is ignored.

    Returns:
        (result, "") or (None, reason).
    """
    reason = check_package(path)
    if reason or path is None:
        return None, reason
    try:
        from docx import Document

        document = Document(path if as_stored else openable(path))
        if not as_stored:
            resolve_wrappers(document.element.body)
        return take(document), ""
    except Exception as error:  # noqa: BLE001 - python-docx raises whatever a damaged file makes it stumble over.
        let_through(error, path)
        return None, f"the document is damaged: {type(error).__name__}"


def paragraphs(document: "Document") -> list[Element]:
    """Paragraphs of the body, without those in tables, frames, headers and footers."""
    return list(document.element.body.iterchildren(w("p")))


def texts(document: "Document") -> list[str]:
    """The text of each paragraph of the body."""
    return [text_of(paragraph) for paragraph in paragraphs(document)]


def runs(paragraph: Element) -> Iterator[Element]:
    """The runs of a paragraph and, in a document as stored, of its hyperlinks, in order."""
    for child in paragraph.iterchildren(_RUN, _LINK):
        if child.tag == _RUN:
            yield child
        else:
            yield from child.iterchildren(_RUN)


def text_of(paragraph: Element) -> str:
    children = list(paragraph)
    if len(children) == 1 and children[0].tag == _RUN:  # The usual case, in half the time.
        return run_text(children[0])
    return "".join(map(run_text, runs(paragraph)))


def run_text(run: Element) -> str:
    """A run's text: tabs are tabs, line breaks line feeds, page breaks nothing."""
    parts = []
    for child in run:
        tag = child.tag
        if tag == _TEXT:
            parts.append(child.text or "")
        elif tag == _BREAK:
            parts.append("\n" if child.get(_TYPE, "textWrapping") == "textWrapping" else "")
        else:
            parts.append(_CHARACTERS.get(tag, ""))
    return "".join(parts)


def cell_paragraphs(document: "Document", *, nested: bool = True) -> Iterator[Element]:
    """The distinct paragraphs of the body's tables, row by row; `nested`: also of tables in their cells."""
    for table in document.element.body.iterchildren(w("tbl")):
        for row in table.iterchildren(w("tr")):
            for cell in row.iterchildren(w("tc")):
                yield from _paragraphs_of(cell) if nested else cell.iterchildren(w("p"))


def _paragraphs_of(cell: Element) -> Iterator[Element]:
    """A cell's paragraphs and those of tables in it, in their order."""
    for inner in cell.iterchildren(w("p"), w("tbl")):
        if inner.tag == w("p"):
            yield inner
        else:
            for row in inner.iterchildren(w("tr")):
                for deeper in row.iterchildren(w("tc")):
                    yield from _paragraphs_of(deeper)


def grid(table: Element, *, nested: bool = True) -> list[list[str]]:
    """The stripped texts of a table's cells by row and column; a cell that spans several is repeated in each.

    The text of tables in a cell is part of its text, and columns that a row leaves out are empty, if `nested`.

    Raises:
        ValueError: a cell spans more columns than a table can have.
    """
    rows: list[list[str]] = []
    for row in table.iterchildren(w("tr")):
        cells: list[str] = [""] * (_left_out(row, "gridBefore") if nested else 0)
        for cell in row.iterchildren(w("tc")):
            merged = child(child(cell, "tcPr"), "vMerge")
            spans = child(child(cell, "tcPr"), "gridSpan")
            text = "\n".join(map(text_of, _paragraphs_of(cell) if nested else cell.iterchildren(w("p")))).strip()
            beside = child(child(cell, "tcPr"), "hMerge")
            if nested and beside is not None and beside.get(w("val"), "continue") == "continue" and cells:
                text = cells[-1]
            if merged is not None and merged.get(w("val"), "continue") == "continue" and rows:
                above = rows[-1]
                text = above[len(cells)] if len(cells) < len(above) else ""
            columns_of_cell = int(spans.get(w("val"), "1")) if spans is not None else 1
            if columns_of_cell > MAX_SPAN:
                raise ValueError(f"a cell spans {columns_of_cell} columns")
            cells += [text] * columns_of_cell
        rows.append(cells + [""] * (_left_out(row, "gridAfter") if nested else 0))
    return rows


def _left_out(row: Element, side: str) -> int:
    """The number of columns that a row leaves out at its beginning (`gridBefore`) or end (`gridAfter`)."""
    note = child(child(row, "trPr"), side)
    number = 0 if note is None else int(note.get(w("val"), "0"))
    if not 0 <= number <= MAX_SPAN:
        raise ValueError(f"a row leaves out {number} columns")
    return number


def columns(table: Element) -> int:
    """The number of columns of a table's layout."""
    layout = child(table, "tblGrid")
    return 0 if layout is None else len(list(layout.iterchildren(w("gridCol"))))


def pictures(root: Element) -> Iterator[str]:
    """Relationship ids of pictures below an element, in display order."""
    for element in root.iter(f"{_PICTURE}blip", f"{_VML}imagedata"):
        name = element.get(f"{_RELATION}embed") or element.get(f"{_RELATION}id")
        if name:
            yield name
