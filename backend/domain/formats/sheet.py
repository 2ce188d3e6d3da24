"""A worksheet as values: cells, positions and references."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
Value = bool | int | float | str | None
Bounds = tuple[int, int, int, int]
"""First row, first column, last row, last column, counted from 1."""
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_MOST_DIGITS = 9
_LEAP_1900 = 60
"""Days up to here are one less: spreadsheets know a 29th of February 1900."""
_RANGE = re.compile(r"\$?([A-Za-z]{1,3})?\$?(\d{1,7})?(?::\$?([A-Za-z]{1,3})?\$?(\d{1,7})?)?")


class DamagedWorkbook(Exception):  # noqa: N818 - says what the file is.
    """A part of the workbook cannot be read. `path` is the workbook's path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.path = path


class CellError(str):
    """An error value of a formula, for example `#DIV/0!`. The same characters typed as text are not equal to it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellError) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class StoredCell(NamedTuple):
    """One stored cell: `style` is an index of the cell formats, `formula` tells whether its value is computed."""

    row: int
    column: int
    value: Value
    style: int = 0
    formula: bool = False


@dataclass(frozen=True)
class SheetRef:
    """Location of a sheet: `kind` is `worksheet` or `chartsheet`, `number` its id, not its position."""

    name: str
    part: str
    number: str
    kind: str


class LinkFormula(NamedTuple):
    """A formula with the function HYPERLINK; `origin`: the cell for which it is written, if several share it."""

    text: str
    origin: tuple[int, int]


@dataclass
class Sheet:
    """A worksheet.

    Attributes:
        rows: row -> (columns, values, marks) of its cells; a mark is 2 x style + 1 for a formula.
        row_props: row -> attributes of the row itself beyond its number.
        root: everything but the cells, as XML.
        has_truths: some cells are TRUE or FALSE, which Python treats as numbers.
        arrays: areas whose values one formula computes, stored in their first cell.
        link_formulas: cell -> its formula, of those that make links.
    """

    place: SheetRef
    rows: dict[int, tuple[list[int], list[Value], list[int]]] = field(default_factory=dict)
    row_props: dict[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    root: Any = None
    has_truths: bool = False
    arrays: list[Bounds] = field(default_factory=list)
    link_formulas: dict[tuple[int, int], LinkFormula] = field(default_factory=dict)

    def cells(self) -> Iterator[StoredCell]:
        """All stored cells, in the file's order."""
        for row, (columns, values, marks) in self.rows.items():
            for column, value, mark in zip(columns, values, marks, strict=True):
                yield StoredCell(row, column, value, mark >> 1, bool(mark & 1))

    def at(self, row: int, column: int) -> StoredCell:
        """One cell; empty if it is not stored."""
        columns, values, marks = self.rows.get(row, ((), (), ()))
        if column not in columns:
            return StoredCell(row, column, None)
        index = columns.index(column)
        return StoredCell(row, column, values[index], marks[index] >> 1, bool(marks[index] & 1))

    def stores(self, row: int, column: int) -> bool:
        """Whether the file has the cell, which a writer may omit if it is empty."""
        return column in self.rows.get(row, ((),))[0]

    def computes(self, row: int, column: int) -> bool:
        """Whether the cell's value is computed, by its own formula or one that fills an area."""
        return self.at(row, column).formula or any(inside(row, column, area) for area in self.arrays)

    def blank_style(self, row: int, column: int) -> int:
        """The format of a cell that is not stored: its row's, else its column's (18.3.1.73, 18.3.1.13)."""
        own = dict(self.row_props.get(row, ()))
        if own.get("customFormat") in {"1", "true"}:
            return _index(own.get("s"))
        return next((style for first, last, style in self._column_styles if 0 < first <= column <= last), 0)

    @cached_property
    def has_blank_styles(self) -> bool:
        """Whether rows or columns have formats of their own."""
        return bool(self._column_styles) or any(dict(props).get("customFormat") for props in self.row_props.values())

    @cached_property
    def _column_styles(self) -> list[tuple[int, int, int]]:
        items = self.root.iterfind("{*}cols/{*}col")
        return [(_index(item.get("min")), _index(item.get("max")), _index(item.get("style"))) for item in items]

    @cached_property
    def merged(self) -> list[Bounds]:
        """Ranges of merged cells."""
        items = self.root.iterfind("{*}mergeCells/{*}mergeCell")
        return [area for item in items if (area := bounds(item.get("ref", ""))) is not None]


def unescaped(text: str) -> str:
    """Text with `_x000D_` and the like as characters (18.4.12)."""
    if "_x" not in text:
        return text
    characters = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    # Characters beyond 16 bits are escaped as two halves.
    return characters.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def serial(text: str, *, epoch_1904: bool) -> float:
    """The number of days that stands for an ISO 8601 date, time or both (18.18.11, `d`). Raises ValueError."""
    days, _, clock = text.strip().rpartition("T") if "T" in text or ":" in text else (text.strip(), "", "")
    date = datetime.fromisoformat(days or "1899-12-30").replace(tzinfo=None)
    since = date - datetime(1904, 1, 1) if days and epoch_1904 else date - datetime(1899, 12, 30)  # noqa: DTZ001
    time = datetime.fromisoformat(f"1970-01-01T{clock}") if clock else None
    early = bool(days) and not epoch_1904 and since.days <= _LEAP_1900
    seconds = 0.0 if time is None else time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6
    return since.days - early + seconds / 86_400


def column_number(letters: str) -> int:
    """`AA` -> 27."""
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z":
            raise ValueError(f"column {letters[:9]!r}")
        number = number * 26 + ord(letter) - 64
    if not 0 < number <= MAX_COLUMN:
        raise ValueError(f"column {letters[:9]!r}")
    return number


def column_letters(number: int) -> str:
    """27 -> `AA`."""
    letters = ""
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


def address(row: int, column: int) -> str:
    """(4, 2) -> `B4`."""
    return f"{column_letters(column)}{row}"


def bounds(reference: str) -> Bounds | None:
    """The area of `B2`, `$B$2:C3`, `A:C` or `2:7`; None if malformed. Sheet names are not supported."""
    match = _RANGE.fullmatch(reference.strip())
    if match is None or not any(match.groups()):
        return None
    left, top, right, bottom = match.groups()
    if ":" not in reference:
        right, bottom = left, top
    if ":" not in reference and (left is None or top is None):
        return None
    try:
        columns = (column_number(left) if left else 1, column_number(right) if right else MAX_COLUMN)
    except ValueError:
        return None
    rows = (int(top) if top else 1, int(bottom) if bottom else MAX_ROW)
    if not (0 < min(rows) <= max(rows) <= MAX_ROW):
        return None
    return min(rows), min(columns), max(rows), max(columns)


def _index(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0


def inside(row: int, column: int, area: Bounds) -> bool:
    """Whether a cell is inside an area."""
    return area[0] <= row <= area[2] and area[1] <= column <= area[3]
