"""Generates workbooks and documents; the same content gives the same bytes."""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import date

from backend.domain.file_generators.prose import Prose
from backend.domain.file_generators.tables import SheetContent

_STAMP = (2024, 6, 17, 9, 0, 0)
_NOW = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")


def workbook(sheets: Sequence[SheetContent]) -> bytes:
    """An .xlsx with one sheet for each table: bold headings in row 1, its values below."""
    from openpyxl import Workbook  # type: ignore[import-untyped]
    from openpyxl.styles import Font  # type: ignore[import-untyped]

    book = Workbook()
    book.remove(book.active)
    for filled in sheets:
        sheet = book.create_sheet(filled.name[:31])
        sheet.append(list(filled.headings))
        for cell in sheet[1]:
            cell.font = Font(bold=True)
        for row in filled.rows:
            sheet.append(list(row))
        if filled.total is not None:
            sheet.append(list(filled.total))
        for row in sheet.iter_rows(min_row=2):
            for cell in row:
                if isinstance(cell.value, date):
                    cell.number_format = "yyyy-mm-dd"
        for position, heading in enumerate(filled.headings):
            sheet.column_dimensions[sheet.cell(1, position + 1).column_letter].width = max(12, 2 * len(heading) + 4)
    out = io.BytesIO()
    book.save(out)
    return _fix_timestamps(out.getvalue())


def document(prose: Prose) -> bytes:
    """A .docx: title, headed sections, fields, numbered items."""
    from docx import Document

    docx = Document()
    docx.add_heading(prose.title, 0)
    for heading, paragraphs in prose.sections:
        if heading:
            docx.add_heading(heading, 1)
        for paragraph in paragraphs:
            docx.add_paragraph(paragraph)
    for name, value in prose.fields:
        docx.add_paragraph(f"{name}：{value}")
    for item in prose.items:
        docx.add_paragraph(item)
    out = io.BytesIO()
    docx.save(out)
    return _fix_timestamps(out.getvalue())


def _fix_timestamps(package: bytes) -> bytes:
    """The same package with all timestamps fixed: both libraries write the current time."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "docProps/core.xml":
                data = _NOW.sub(rb"\g<1>2024-06-17T09:00:00Z\2", data)
            entry = zipfile.ZipInfo(name, _STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)
    return out.getvalue()
