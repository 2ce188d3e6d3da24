"""The last row of a workbook's first sheet as texts, as pandas (`read_excel`, `iloc[-1]`, `astype(str)`) returns it.

OSWorld's getter consists of those three calls, and its expectations match their result. The first row is the header. A
column is of integers only if all its values are, and a row of numbers only has a single type as well.
"""

import warnings
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import check_package

NOTHING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
     "NULL", "NaN", "None", "n/a", "nan", "null"}
)  # fmt: skip
"""Texts that pandas reads as missing (its documentation of `read_excel`, parameter `na_values`)."""
TRUTH = {word: word.lower() == "true" for word in ("True", "TRUE", "true", "False", "FALSE", "false")}
MAX_CELLS = 5_000_000
_INTEGERS = 2**63


def last_row(path: str) -> list[str] | None:
    """The texts; None if the file is not a workbook, is too large, or has no row below the header."""
    rows = _rows(path)
    width = max(map(len, rows), default=0)
    if len(rows) < 2 or width * len(rows) > MAX_CELLS:  # noqa: PLR2004 - head and one row.
        return None
    columns = [[_value(row[index]) if index < len(row) else None for row in rows[1:]] for index in range(width)]
    typed = [_convert_texts(column) for column in columns]
    last = [column[-1] for column in typed]
    if all(map(_are_numbers, typed)) and any(isinstance(value, float) for column in typed for value in column):
        last = [float(value) for value in last]
    return ["nan" if value is None else str(value) for value in last]


def _rows(path: str) -> list[Sequence[Any]]:
    if check_package(path):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Unusual styles do not matter here.
            rows = _read(path)
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a damaged file makes it stumble over.
        let_through(error, path)
        return []  # The agent left an unreadable workbook: it has no last row.
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _read(path: str) -> list[Sequence[Any]]:
    from openpyxl import load_workbook  # type: ignore[import-untyped]

    rows, cells = [], 0
    with Path(path).open("rb") as file:  # openpyxl leaves a damaged file open.
        book = load_workbook(file, read_only=True, data_only=True)
        for row in book.worksheets[0].iter_rows(values_only=True):
            rows.append(_trim(row))
            cells += len(row)
            if cells > MAX_CELLS:  # A single cell in the last column makes a row of 16,384.
                return []
    return rows


def _trim(row: Sequence[Any]) -> Sequence[Any]:
    end = max((index + 1 for index, value in enumerate(row) if value is not None), default=0)
    return row[:end]


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return None if value in NOTHING else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime.combine(value, time())
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_numbers(column: list[Any]) -> bool:
    return all(map(_is_number, column))


def _convert_texts(column: list[Any]) -> list[Any]:
    """Converts texts that are all numbers, or all booleans; integers among other numbers become floats."""
    if all(isinstance(value, str) and value in TRUTH for value in column):
        return [TRUTH[value] for value in column]
    numbers = [_as_number(value) for value in column]
    if all(isinstance(value, bool) for value in column):
        return column
    if {type(value) for value in column} == {datetime, type(None)}:
        return ["NaT" if value is None else value for value in column]
    if any(number is None and value is not None for number, value in zip(numbers, column, strict=True)):
        return column
    if any(value is None or isinstance(value, float) for value in numbers):
        return [float("nan") if value is None else float(value) for value in numbers]
    return numbers


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, int | float):
        return _fit_number(+value)  # A boolean among numbers is a number.
    if not isinstance(value, str):
        return None
    try:
        return _fit_number(int(value))
    except ValueError:
        try:
            return float(value)
        except ValueError:
            return None


def _fit_number(number: float) -> int | float:
    """The number, as a float if it does not fit into 64 bits."""
    return float(str(number)) if abs(number) >= _INTEGERS else number
