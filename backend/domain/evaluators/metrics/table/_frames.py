"""A sheet as a data frame, as upstream reads it: a header row, and columns that each have one type.

The types follow pandas' `read_excel`, which upstream uses: numbers and booleans may be written as text, error values
and words such as `NA` are missing values. docs/internals/evaluators.md lists the differences, which `strict` undoes.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import count
from typing import Any

from backend.domain.formats.sheet import CellError, Sheet, Value
from backend.domain.formats.workbook import Workbook

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_TRUE, _FALSE = {"True", "TRUE", "true"}, {"False", "FALSE", "false"}
_MISSING_WORDS = frozenset(
    {
        "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
        "NULL", "NaN", "None", "n/a", "nan", "null",
    }
)  # fmt: skip


class MissingValue:
    """An error or a word for "no value"; all are equal to each other only."""

    def __repr__(self) -> str:
        return "a missing value (an error, NA or the like)"


MISSING = MissingValue()


@dataclass(frozen=True)
class CellComparison:
    """How cells are compared: `precision` in decimal digits, case, upstream's bugs."""

    precision: int = 4
    ignore_case: bool = False
    strict: bool = False


class SheetFrame:
    """One sheet, prepared for comparison by rows; `rows` has those with any cell."""

    def __init__(self, book: Workbook, sheet: Sheet, way: CellComparison) -> None:
        self.book, self.sheet, self._way = book, sheet, way
        self._dates: dict[int, str] = {}
        self._texts: dict[str, Any] = {}

    @property
    def rows(self) -> set[int]:
        """Numbers of the rows with cells."""
        return set(self.sheet.rows)

    def same(self, other: "SheetFrame", number: int) -> bool:
        """Whether a row is identical in both files, so that it need not be compared."""
        result, theirs = self.sheet.rows.get(number), other.sheet.rows.get(number)
        if result is None or theirs is None or self.sheet.has_truths or other.sheet.has_truths:
            return False
        if result[0] != theirs[0] or result[1] != theirs[1]:
            return False
        styles = (self.book.styles, other.book.styles)
        if not any(style.has_dates or style.has_iso_dates for style in styles):
            return True
        dates = self.whens(result[2])
        return dates == other.whens(theirs[2]) and (self.book.epoch_1904 == other.book.epoch_1904 or not any(dates))

    def whens(self, marks: list[int]) -> list[str]:
        """Which cells of a row are dates, durations or numbers."""
        return [self._when(mark >> 1) for mark in marks]

    def row(self, number: int) -> dict[int, Any]:
        """Column -> compared value of one row; empty cells are left out."""
        if number == 1:
            return self._header()
        kinds = self.kinds
        row = {column: self._comparable(value, kinds[column]) for column, value in self._forward_filled(number)}
        return {column: value for column, value in row.items() if value is not None}

    @cached_property
    def kinds(self) -> dict[int, str]:
        """Column -> `number`, `truth` or `object`, from the types of its cells below the header."""
        kinds: dict[int, set[str]] = {}
        for number in self.sheet.rows:
            for column, value in self._forward_filled(number):
                kinds.setdefault(column, set())
                if number > 1:
                    kinds[column].add(self._sort(value))
        return {column: _kind(sorts - {"missing"}) for column, sorts in kinds.items()}

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Last row and last column with a value."""
        rows = columns = 0
        for number in self.sheet.rows:
            filled = [column for column, _ in self._forward_filled(number)]
            if filled:
                rows, columns = max(rows, number), max(columns, *filled)
        return rows, columns

    @cached_property
    def types(self) -> dict[int, str]:
        """Column -> pandas' type: integer, float (always for a column with gaps) and others."""
        present: dict[int, int] = dict.fromkeys(self.kinds, 0)
        whole = set(self.kinds)
        for number in self.rows - {1}:
            for column, value in self.row(number).items():
                present[column] += 1
                if not isinstance(value, int):
                    whole.discard(column)
        gapless = {column for column, count in present.items() if count == self.shape[0] - 1}
        return {
            column: kind if kind != "number" and present[column] else "whole" if column in whole & gapless else "number"
            for column, kind in self.kinds.items()
        }

    def _header(self) -> dict[int, Any]:
        header = {column: self._header_value(value) for column, value in self._forward_filled(1)}
        if self._way.strict:
            columns = range(1, self.shape[1] + 1)
            names = _made_unique([header.get(column, f"Unnamed: {column - 1}") for column in columns])
            return dict(zip(columns, names, strict=True))
        return header

    def _header_value(self, value: Any) -> Any:
        if isinstance(value, CellError):
            return MISSING
        return value if self._way.strict else self._comparable(value, "object", words=False)

    def _forward_filled(self, number: int) -> Iterator[tuple[int, Any]]:
        columns, values, marks = self.sheet.rows.get(number, ((), (), ()))
        for column, value, mark in zip(columns, values, marks, strict=True):
            if value is not None and value != "":
                yield column, self._to_date(value, mark >> 1)

    def _to_date(self, value: Value, style: int) -> Any:
        """The value; for a number in a date format, the date."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return value
        when = self._when(style)
        if not when:
            return int(value) if isinstance(value, float) and value.is_integer() else value
        return moment(value, epoch_1904=self.book.epoch_1904, duration=when == "span")

    def _when(self, style: int) -> str:
        """Whether numbers in a format are dates (`date`), durations (`span`) or numbers ("")."""
        if style not in self._dates:
            styles = self.book.styles
            is_date = styles.is_date(style, published=self._way.strict)
            self._dates[style] = "" if not is_date else "span" if styles.is_duration(style) else "date"
        return self._dates[style]

    def _sort(self, value: Any) -> str:
        if isinstance(value, CellError):
            return "missing"
        if isinstance(value, bool):
            return "truth"
        if isinstance(value, int | float):
            return "number"
        return self._text(value)[0] if isinstance(value, str) else "other"

    def _text(self, text: str) -> tuple[str, Any]:
        """The value that a text stands for in a column of its type."""
        if text not in self._texts:
            self._texts[text] = _read(text)
        known: tuple[str, Any] = self._texts[text]
        return known

    def _comparable(self, value: Any, kind: str, *, words: bool = True) -> Any:
        """The compared value of a cell, None = empty; `words`: some texts count as missing values."""
        if isinstance(value, CellError):
            return None if self._way.strict else MISSING
        if isinstance(value, str):
            sort, meant = self._text(value)
            if sort == "missing" and words:
                return None if self._way.strict else MISSING
            if sort != kind:
                return value.lower() if self._way.ignore_case and not self._way.strict else value
            value = meant
        if isinstance(value, bool):
            # In Python, and so in some of upstream's columns, TRUE equals 1.
            return value if self._way.strict else ("truth", value)
        exact = not isinstance(value, int | float)
        return (
            value if exact or (self._way.strict and kind != "number") else round_half_even(value, self._way.precision)
        )


def frame_differences(actual: SheetFrame, expected: SheetFrame, *, strict: bool) -> Iterator[tuple[int, int, Any, Any]]:
    """Row, column, actual and expected value, None = empty. Row 0 stands for the whole sheet."""
    if strict and actual.shape != expected.shape:
        yield 0, 0, "{} rows, {} columns".format(*actual.shape), "{} and {}".format(*expected.shape)
    if strict:
        for column in sorted(actual.types.keys() | expected.types.keys()):
            if actual.types.get(column) != expected.types.get(column):
                yield 0, column, f"values of type {actual.types.get(column)}", f"{expected.types.get(column)}"
    for number in sorted(actual.rows | expected.rows):
        if not strict and actual.same(expected, number):
            continue
        result, gold = actual.row(number), expected.row(number)
        if result != gold:
            for column in sorted(result.keys() | gold.keys()):
                if result.get(column) != gold.get(column):
                    yield number, column, result.get(column), gold.get(column)


def round_half_even(value: float, precision: int) -> float:
    """Rounds to a number of decimal digits, halves to even on the scaled number, as numpy does."""
    if isinstance(value, int) and precision >= 0:
        return value
    scale = 10.0 ** abs(precision)
    scaled = value * scale if precision >= 0 else value / scale
    if not math.isfinite(scaled):
        return value
    return round(scaled) / scale if precision >= 0 else round(scaled) * scale


def moment(value: float, *, epoch_1904: bool, duration: bool) -> Any:
    """A spreadsheet's number of days as a date, time or duration; `#VALUE!` if it is invalid."""
    try:
        span = timedelta(days=math.floor(value), milliseconds=round((value % 1) * 86_400_000))
        if duration:
            return span
        if 0 <= value < 1 and not span.days:
            return (datetime(1, 1, 1) + span).time()  # noqa: DTZ001
        # Spreadsheets count 29 February 1900, which did not exist, as day 60.
        early = timedelta(days=0 < value < 60 and not epoch_1904)  # noqa: PLR2004
        return datetime(1904, 1, 1) + span if epoch_1904 else datetime(1899, 12, 30) + span + early  # noqa: DTZ001
    except (OverflowError, ValueError):
        return CellError("#VALUE!")


def _made_unique(names: list[Any]) -> list[Any]:
    """As pandas' `read_excel` does: a second column `a` is `a.1`, unless there is one."""
    unique: list[Any] = []
    present, used = set(names), set[Any]()
    for name in names:
        numbered = (f"{name}.{number}" for number in count(1))
        unique.append(name if name not in used else next(x for x in numbered if x not in used and x not in present))
        used.add(unique[-1])
    return unique


def _kind(sorts: set[str]) -> str:
    if sorts and sorts <= {"number", "truth"}:
        return "number" if "number" in sorts else "truth"
    return "object" if sorts else "number"


def _read(text: str) -> tuple[str, Any]:
    if text in _MISSING_WORDS:
        return "missing", None
    if text in _TRUE or text in _FALSE:
        return "truth", text in _TRUE
    if len(text) <= 400 and _NUMBER.fullmatch(text):  # noqa: PLR2004 - longer ones are no numbers of anybody.
        number = float(text)
        return "number", int(number) if number.is_integer() else number
    return "other", text
