"""Values of formulas, and their conversions."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from backend.domain.formats.sheet import Bounds, CellError, Sheet
from backend.domain.formats.workbook import Workbook

MAX_STEPS = 2_000_000
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class NotUnderstood(Exception):  # noqa: N818 - says what happened.
    """The formula uses something unsupported, or takes too long."""


class FormulaError(Exception):
    """The formula ends in an error value, for example `#N/A`."""


@dataclass(frozen=True)
class Area:
    """Cells referenced by a formula; `sheet` None = its own."""

    bounds: Bounds
    sheet: str | None = None


@dataclass
class FormulaContext:
    """Evaluation context of a formula: its cell, the offset from its original one, and access to cells."""

    row: int
    column: int
    down: int
    right: int
    read: Callable[[Area], list[Any]]
    steps: list[int] = field(default_factory=lambda: [0])

    def values(self, area: Area) -> list[Any]:
        """The values of an area, row by row, charged to the formula's cost limit."""
        top, left, bottom, right = area.bounds
        self.steps[0] += (bottom - top + 1) * (right - left + 1)
        if self.steps[0] > MAX_STEPS:
            raise NotUnderstood("the conditions of the sheet take too long")
        return self.read(area)


Node = Callable[[FormulaContext], Any]


def scalar(value: Any, context: FormulaContext) -> Any:
    """A single value; of a one-cell area, that cell's."""
    if isinstance(value, Area):
        if value.bounds[:2] != value.bounds[2:]:
            raise NotUnderstood("an area is used where a single value is expected")
        value = context.values(value)[0]
    if isinstance(value, FormulaError):
        raise value
    return value


def number(value: Any) -> float:
    """A value as a number; empty is 0."""
    if value is None:
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise FormulaError("#VALUE!") from error


def text(value: Any) -> str:
    """A value as text; integers without a decimal point."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def truth(value: Any) -> bool:
    """A value as a boolean; text has none."""
    if isinstance(value, str):
        raise FormulaError("#VALUE!")
    return bool(value)


def compare(sign: str, left: Any, right: Any) -> bool:
    """Compares two values: numbers before text before booleans, ignoring case."""
    actual, theirs = _sort_key(left, right), _sort_key(right, left)
    return bool(_COMPARISONS[sign](actual, theirs))


def _sort_key(value: Any, beside: Any) -> tuple[int, Any]:
    if value is None:
        value = {str: "", bool: False}.get(type(beside), 0)
    if isinstance(value, bool):
        return 2, value
    return (1, value.lower()) if isinstance(value, str) else (0, float(value))


def values_of(book: Workbook, sheet: Sheet, area: Area) -> list[Any]:
    """The values of an area, row by row. Raises FormulaError if there is no such sheet."""
    source = sheet if area.sheet is None else book.sheet(area.sheet)
    if source is None:
        raise FormulaError("#REF!")
    top, left, bottom, right = area.bounds
    cells = (source.at(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1))
    return [_read_as(cell.value) for cell in cells]


def _read_as(value: Any) -> Any:
    return FormulaError(str(value)) if isinstance(value, CellError) else value
