"""`row_props`, `col_props`: hidden rows, widths of columns and the like."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from backend.domain.evaluators.metrics.table._books import PairRule, SheetReference, WorkbookPair, differences
from backend.domain.formats.sheet import MAX_COLUMN, Sheet, column_letters

_ROW = {"hidden": "hidden", "collapsed": "collapsed", "height": "ht", "outlineLevel": "outlineLevel", "s": "s"}
_COLUMN = {
    "width": "width", "auto_size": "bestFit", "bestFit": "bestFit", "hidden": "hidden", "collapsed": "collapsed",
    "min": "min", "max": "max", "outlineLevel": "outlineLevel",
}  # fmt: skip
_NUMBERS = {"ht", "width", "min", "max", "outlineLevel", "s"}
_PIXEL, _ROUNDING = 0.75, 1e-6
"""Heights in points are shown, and saved by LibreOffice, in whole pixels."""
_UPSTREAM_WIDTH = 13.0
Table = Mapping[Any, Mapping[str, Any]]


class RowPropsRule(PairRule):
    """Rows agree in the given properties.

    A row that a file does not list has the sheet's defaults; upstream treats it as different from a row that lists the
    defaults.
    """

    type: Literal["row_props"]
    props: tuple[Literal["hidden", "collapsed", "height", "outlineLevel", "s"], ...] = ()

    def judge(self, books: WorkbookPair) -> list[str]:
        return _compare_rows(books, (self.sheet_idx0, self.sheet_idx1), self._rows, "row")

    def _rows(self, sheet: Sheet, *, strict: bool) -> Table:
        plain = _plain(sheet, "defaultRowHeight")
        rows = {number: dict(props) for number, props in sheet.row_props.items()}
        names = [_ROW[name] for name in self.props]
        table = {
            number: {
                name: _parse_property(name, _attribute(row, name, strict=strict), plain, strict=strict)
                for name in names
            }
            for number, row in rows.items()
        }
        usual = {name: _parse_property(name, None, plain, strict=strict) for name in names}
        if strict:
            return {
                number: {key: rows[number].get(key) and value for key, value in row.items()}
                for number, row in table.items()
            }
        return {number: row for number, row in table.items() if row != usual}


class ColumnPropsRule(PairRule):
    """Columns agree in the given properties. Upstream compares ranges of columns as listed in the file."""

    type: Literal["col_props"]
    props: tuple[
        Literal["width", "auto_size", "bestFit", "hidden", "collapsed", "min", "max", "outlineLevel"], ...
    ] = ()

    def judge(self, books: WorkbookPair) -> list[str]:
        return _compare_rows(books, (self.sheet_idx0, self.sheet_idx1), self._columns, "column")

    def _columns(self, sheet: Sheet, *, strict: bool) -> Table:
        names = [_COLUMN[name] for name in self.props]
        plain = _plain(sheet, "defaultColWidth")
        usual = {name: _parse_property(name, None, plain, strict=strict) for name in names}
        table: dict[str, Mapping[str, Any]] = {}
        listed = 0
        for item in sheet.root.iterfind("{*}cols/{*}col"):
            first, last = (int(item.get(name, 0)) for name in ("min", "max"))
            listed += last - first + 1
            if not 0 < first <= last <= MAX_COLUMN or listed > MAX_COLUMN:
                raise ValueError(f"columns {first} to {last}")
            usual_width = _UPSTREAM_WIDTH if strict else plain
            row = {
                name: _parse_property(name, _attribute(item, name, strict=strict), usual_width, strict=strict)
                for name in names
            }
            for number in (first,) if strict or {"min", "max"} & set(names) else range(first, last + 1):
                if strict or row != usual:
                    table[column_letters(number)] = row
        return table


def _compare_rows(
    books: WorkbookPair, references: tuple[SheetReference, SheetReference], read: Callable[..., Table], noun: str
) -> list[str]:
    both: list[Any] = []
    for reference in references:
        sheet = books.sheet(reference)
        if sheet is None and not books.strict:
            return [books.lacks(reference)]
        both.append({} if sheet is None else read(sheet, strict=books.strict))
    return differences(both[0], both[1], noun=noun)


def _attribute(item: Any, name: str, *, strict: bool) -> str | None:
    """An attribute of a row or column; one without height or width is hidden."""
    text = item.get(name)
    if name == "hidden" and not strict and text not in {"1", "true"}:
        size = item.get("ht") or item.get("width")
        return "1" if size and float(size) == 0 else text
    return str(text) if text is not None else None


def _plain(sheet: Sheet, name: str) -> float:
    plain = sheet.root.find("{*}sheetFormatPr")
    return float(plain.get(name) or 0) if plain is not None else 0.0


def _parse_property(name: str, text: str | None, plain: float, *, strict: bool) -> Any:
    if name not in _NUMBERS:
        return text in {"1", "true"}
    number = float(text) if text else plain if name in {"ht", "width"} else 0
    return int(number / _PIXEL + _ROUNDING) * _PIXEL if name == "ht" and not strict else round(number, 2)
