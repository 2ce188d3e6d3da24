"""Properties of cells by the names that rules use."""

import re
from typing import Any, Literal

from backend.domain.evaluators.metrics.table._books import WorkbookPair
from backend.domain.evaluators.metrics.table._links import links_of
from backend.domain.formats.cell_styles import BLACK, NO_COLOUR, CellFill, CellFormat, Colour, Font
from backend.domain.formats.cell_text import canonical_format
from backend.domain.formats.sheet import Sheet, StoredCell, inside
from backend.domain.formats.workbook import Workbook

CellProperty = Literal[
    "number_format", "font_name", "font_family", "font_color", "font_bold", "font_italic", "font_underline",
    "font_size", "fill_type", "bgcolor", "fgcolor", "hyperlink", "merge",
]  # fmt: skip
_OF_TEXT = {"font_name": "name", "font_family": "family", "font_bold": "bold", "font_italic": "italic",
            "font_underline": "underline", "font_size": "size"}  # fmt: skip
_EMPTY_PATH = re.compile(r"(https?://[^/?#]+)/", re.IGNORECASE)
_BY_THEME = "a colour of the theme"  # upstream's representation of such a colour


def in_one_form(name: str, value: Any) -> Any:
    """A property of a cell in the form in which equal ones are equal: number formats, addresses of links."""
    if not isinstance(value, str):
        return value
    if name == "number_format":
        return canonical_format(value)
    link = _EMPTY_PATH.fullmatch(value) if name == "hyperlink" else None
    return value if link is None else link[1]


class SheetFormats:
    """Formats of one sheet's cells, without conditional formats.

    Args:
        books: the workbooks that are compared.
        book: the sheet's own.
        sheet: the sheet.
        as_written: number formats and addresses are as in the file, not in one form.
    """

    def __init__(self, books: WorkbookPair, book: Workbook, sheet: Sheet, *, as_written: bool = False) -> None:
        self._as_written = as_written or books.strict
        self._strict, self._waa, self._styles, self._sheet = books.strict, books.waa, book.styles, sheet
        self._links = links_of(book, sheet, published=books.strict)

    def at(self, row: int, column: int, name: str) -> Any:
        """A property of one cell, None if it is not set. A cell that is not stored looks as its row or column does."""
        cell = self._sheet.at(row, column)
        if not self._strict and not self._sheet.stores(row, column):
            cell = cell._replace(style=self._sheet.blank_style(row, column))
        return self.property_of(cell, name)

    def property_of(self, cell: StoredCell, name: str, changes: CellFormat | None = None) -> Any:
        """A property of a cell that was already read.

        Args:
            cell: the cell.
            name: name of the property, one of `CellProperty`.
            changes: properties changed by a condition.
        """
        if name == "merge":
            return any(
                inside(cell.row, cell.column, area) and (cell.row, cell.column) != area[:2]
                for area in self._sheet.merged
            )
        look = self._styles.look(cell.style)
        if name in {"bgcolor", "fgcolor", "fill_type"}:
            return self._background(name, look.fill or CellFill(), None if changes is None else changes.fill)
        if cell.value is None and not cell.formula:
            return None
        return self._of_text(cell, name, look, changes)

    def _of_text(self, cell: StoredCell, name: str, look: CellFormat, changes: CellFormat | None) -> Any:
        """Properties that only cells with a value have."""
        if name == "hyperlink":
            return self._one_form(name, self._links.get((cell.row, cell.column), ""))
        if name == "number_format":
            if not isinstance(cell.value, int | float) or (self._strict and self._hidden_from_upstream(cell)):
                return None
            own = "General" if self._strict and self._styles.is_eastern(cell.style) else look.number_format
            return self._one_form(name, (changes and changes.number_format) or own)
        font, changed = look.font or Font(), (changes and changes.font) or Font()
        if name == "font_color":
            return self._colour(changed.colour or font.colour)
        own, other = getattr(font, _OF_TEXT[name]), getattr(changed, _OF_TEXT[name])
        return own if other is None else other

    def _one_form(self, name: str, value: Any) -> Any:
        return value if self._as_written else in_one_form(name, value)

    def _hidden_from_upstream(self, cell: StoredCell) -> bool:
        """Upstream reads number formats of plain numbers only, not of dates, formulas or booleans."""
        return cell.formula or isinstance(cell.value, bool) or self._styles.is_date(cell.style, published=True)

    def _colour(self, colour: Colour | None) -> str:
        if self._strict and colour is not None:
            return colour.written or _BY_THEME
        return BLACK if colour is None else colour.argb

    def _background(self, name: str, fill: CellFill, changed: CellFill | None) -> Any:
        if name == "fill_type":
            return (changed or fill).kind
        if not self._strict:
            return (changed or fill).shown
        if changed is not None:
            return _colour_text(changed.back)
        return (
            None
            if fill.kind == "gradientFill"
            else _colour_text(fill.back if self._waa and name == "bgcolor" else fill.front)
        )


def _colour_text(colour: Colour | None) -> str:
    return NO_COLOUR if colour is None else colour.written or _BY_THEME
