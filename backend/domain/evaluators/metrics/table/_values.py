"""The value of a single cell as rules compare it."""

from typing import Any

from backend.domain.evaluators.metrics.table._books import SheetReference, WorkbookPair
from backend.domain.formats.sheet import CellError


def value_of(books: WorkbookPair, reference: SheetReference, row: int, column: int) -> Any:
    """Numbers as floats, booleans, text, errors by name; None for an empty cell or a missing sheet.

    As upstream (strict): booleans are empty, in WAA errors as well; the sheet is the one whose file has its id.
    """
    sheet = books.sheet_as_read(reference)
    value = None if sheet is None else sheet.at(row, column).value
    if books.strict and (isinstance(value, bool) or (books.waa and isinstance(value, CellError))):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return str(value) if isinstance(value, str) else value


def text_of(books: WorkbookPair, reference: SheetReference, row: int, column: int) -> str | None:
    """A cell's value as text, None for an empty cell."""
    value = value_of(books, reference, row, column)
    return None if value is None else str(value)
