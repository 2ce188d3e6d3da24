"""`style`: the cells of two sheets have the same formats, including conditional ones."""

from typing import Any, Literal

from pydantic import Field

from backend.domain.evaluators.metrics.table._books import PairRule, SheetReference, WorkbookPair, differences
from backend.domain.evaluators.metrics.table._conditions import Conditions
from backend.domain.evaluators.metrics.table._looks import CellProperty, SheetFormats
from backend.domain.formats.cell_styles import CellFormat
from backend.domain.formats.sheet import Sheet, StoredCell, address


class Position(tuple[int, int]):
    """Row and column of a cell; its text is the address."""

    __slots__ = ()

    def __str__(self) -> str:
        return address(*self)


class StyleRule(PairRule):
    """Every cell has the same properties.

    A cell that only one file has is compared with an empty default one; upstream also compares the sizes of the sheets.

    Attributes:
        props: properties to compare.
    """

    type: Literal["style"]
    props: tuple[CellProperty, ...] = Field(min_length=1)

    def judge(self, books: WorkbookPair) -> list[str]:
        tables = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet(reference)
            if sheet is None and not books.strict:
                return [books.lacks(reference)]
            tables.append({} if sheet is None else self._table(books, reference, sheet))
        if not books.strict:
            self._fill_in(books, tables)
        return differences(tables[0], tables[1], noun="the style of")

    def _fill_in(self, books: WorkbookPair, tables: list[Any]) -> None:
        """Adds the looks of cells that one file stores and the other leaves to their row or column."""
        for reference, result, other in zip((self.sheet_idx0, self.sheet_idx1), tables, tables[::-1], strict=True):
            sheet = books.sheet(reference)
            if sheet is None or not sheet.has_blank_styles:
                continue
            looks, props = SheetFormats(books, books.book(reference), sheet), self._shown
            plain = [looks.property_of(StoredCell(0, 0, None), name) for name in props]
            for position in [
                position for position in other if isinstance(position, Position) and position not in result
            ]:
                values = plain if sheet.stores(*position) else [looks.at(*position, name) for name in props]
                if values != plain:
                    result[position] = values

    @property
    def _shown(self) -> tuple[CellProperty, ...]:
        """The properties of single cells."""
        return tuple(name for name in self.props if name != "merge")

    def _table(self, books: WorkbookPair, reference: SheetReference, sheet: Sheet) -> dict[Any, Any]:
        """Position -> properties of the cells that differ from the default."""
        looks = SheetFormats(books, books.book(reference), sheet)
        conditions = Conditions(books.book(reference), sheet)
        changes = conditions.changes()
        books.notes.extend(conditions.notes)
        props = self._shown
        plain = [looks.property_of(StoredCell(0, 0, None), name) for name in props]
        table: dict[Any, Any] = {"merged": sorted(sheet.merged)} if "merge" in self.props else {}
        if books.strict:
            table["used up to"] = _corner(sheet)
        known: dict[tuple[Any, ...], list[Any]] = {}
        for cell in sheet.cells():
            # Cells of one format look the same, except for properties that depend on their values.
            alike = (cell.style, cell.formula, type(cell.value))
            if alike not in known or (cell.row, cell.column) in changes or "hyperlink" in props:
                known[alike] = [looks.property_of(cell, name) for name in props]
            values = known[alike]
            for change in changes.get((cell.row, cell.column), ())[::-1]:
                values = [
                    _property_after(looks, cell, name, change, now) for name, now in zip(props, values, strict=True)
                ]
            if values != plain:
                table[Position((cell.row, cell.column))] = values
        return table


def _property_after(looks: SheetFormats, cell: StoredCell, name: CellProperty, change: CellFormat, now: Any) -> Any:
    """A property after one condition, if the condition sets it. The highest priority is applied last."""
    plain, changed = looks.property_of(cell, name), looks.property_of(cell, name, change)
    return now if changed == plain else changed


def _corner(sheet: Sheet) -> str:
    """The last cell of the used area, by which upstream compares the sizes of sheets."""
    cells = [(cell.row, cell.column) for cell in sheet.cells()] + [area[2:] for area in sheet.merged]
    return address(max(row for row, _ in cells), max(column for _, column in cells)) if cells else "A1"
