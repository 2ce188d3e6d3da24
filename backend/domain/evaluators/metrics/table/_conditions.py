"""Conditional formats: which cells of a sheet they change, and how.

Upstream evaluates conditions by a library whose licence is incompatible with ours, and passes the cell as the first
reference of the formula. Here references are shifted to the cell, as spreadsheets do. As upstream, cells without a
value are skipped.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.domain.evaluators.metrics.table._formula_values import (
    Area,
    FormulaContext,
    FormulaError,
    Node,
    NotUnderstood,
    compare,
    scalar,
    truth,
    values_of,
)
from backend.domain.evaluators.metrics.table._formulas import compile_formula
from backend.domain.evaluators.metrics.table._matching import areas
from backend.domain.formats.cell_styles import CellFormat
from backend.domain.formats.sheet import Bounds, CellError, Sheet, StoredCell, inside
from backend.domain.formats.workbook import Workbook

MAX_TESTS = 5_000_000
_BY_FORMULA = {
    "expression", "containsText", "notContainsText", "beginsWith", "endsWith", "containsErrors", "notContainsErrors",
    "containsBlanks", "notContainsBlanks", "timePeriod",
}  # fmt: skip
_SIGNS = {
    "equal": "=", "notEqual": "<>", "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}  # fmt: skip
_PICTURES = {"colorScale", "dataBar", "iconSet"}
Test = Callable[[StoredCell], bool]


@dataclass(frozen=True)
class FormatCondition:
    """One condition of a sheet: area, kind, priority (1 first) and changed properties."""

    areas: list[Bounds]
    kind: str
    priority: int
    formulas: tuple[str, ...]
    options: Any
    look: CellFormat

    @property
    def is_last(self) -> bool:
        """Whether conditions of lower priority do not apply where this one does."""
        return self.options.get("stopIfTrue") in {"1", "true"}


class Conditions:
    """The conditional formats of one sheet; `notes` lists those that could not be evaluated."""

    def __init__(self, book: Workbook, sheet: Sheet) -> None:
        self._book, self._sheet, self._steps, self._tests = book, sheet, [0], 0
        self.notes: list[str] = []

    def changes(self) -> dict[tuple[int, int], list[CellFormat]]:
        """Cell -> its changes, highest priority first. An unsupported condition changes nothing."""
        changes: dict[tuple[int, int], list[CellFormat]] = {}
        conditions = sorted(self._read(), key=lambda condition: condition.priority)
        stopped: set[tuple[int, int]] = set()
        for condition in conditions:
            try:
                hits = self._hits(condition)
            except (NotUnderstood, ValueError, TypeError, ArithmeticError) as error:
                self.notes.append(f"a condition of {self._sheet.place.name!r} was left out: {error}"[:200])
                continue
            places = {(cell.row, cell.column) for cell in hits} - stopped
            for cell_index in places:
                changes.setdefault(cell_index, []).append(condition.look)
            if condition.is_last:
                stopped |= places
        return changes

    def _hits(self, condition: FormatCondition) -> list[StoredCell]:
        self._tests += len(self._filled_cells)
        if self._tests > MAX_TESTS:
            raise NotUnderstood("the sheet has too many conditions and cells")
        cells = [cell for cell in self._filled_cells if _covers(condition, cell)]
        test = self._test(condition, cells)
        return [cell for cell in cells if test(cell)]

    @cached_property
    def _filled_cells(self) -> list[StoredCell]:
        return [cell for cell in self._sheet.cells() if cell.value is not None]

    def _read(self) -> Iterator[FormatCondition]:
        root, styles = self._sheet.root, self._book.styles
        for block in root.iterfind("{*}conditionalFormatting"):
            for rule in block.iterfind("{*}cfRule"):
                if rule.get("dxfId") is not None or rule.get("stopIfTrue") in {"1", "true"}:
                    look = styles.differential(int(rule.get("dxfId", -1)))
                    yield _condition(rule, block.get("sqref", ""), look)
        for block in root.iterfind("{*}extLst//{*}conditionalFormatting"):
            for rule in block.iterfind("{*}cfRule"):
                dxf = rule.find("{*}dxf")
                if dxf is not None:
                    yield _condition(rule, block.findtext("{*}sqref") or "", styles.changes(dxf))

    def _test(self, condition: FormatCondition, cells: list[StoredCell]) -> Test:
        kind = condition.kind
        if kind in _BY_FORMULA and condition.formulas:
            formula = compile_formula(condition.formulas[0])
            return lambda cell: self._holds(formula, condition, cell)
        if kind == "cellIs":
            return self._cell_is(condition)
        if kind in {"duplicateValues", "uniqueValues"}:
            counts = Counter(_fold_case(cell.value) for cell in cells)
            return lambda cell: (counts[_fold_case(cell.value)] > 1) == (kind == "duplicateValues")
        numbers = [float(cell.value or 0) for cell in cells if _is_number(cell.value)]
        if kind == "top10":
            return _among_first(condition.options, numbers)
        if kind == "aboveAverage":
            return _beside_mean(condition.options, numbers)
        raise NotUnderstood(f"conditions of kind {kind!r} are not supported")

    def _cell_is(self, condition: FormatCondition) -> Test:
        sign, bounds_ = (
            condition.options.get("operator", "equal"),
            [compile_formula(text) for text in condition.formulas],
        )
        if sign in _SIGNS and bounds_:
            return lambda cell: self._compares(
                condition, cell, lambda value, refs: compare(_SIGNS[sign], value, refs[0]), bounds_
            )
        if sign in {"between", "notBetween"} and len(bounds_) > 1:
            return lambda cell: self._compares(
                condition, cell, lambda value, refs: _is_between(value, refs) == (sign == "between"), bounds_
            )
        raise NotUnderstood(f"the comparison {sign!r} is not supported")

    def _compares(
        self, condition: FormatCondition, cell: StoredCell, fits: Callable[[Any, list[Any]], bool], bounds_: list[Node]
    ) -> bool:
        context = self._place(condition, cell)
        try:
            references = [scalar(bound(context), context) for bound in bounds_]
        except FormulaError:
            return False
        if isinstance(cell.value, CellError):
            return False
        if any(isinstance(cell.value, str) != isinstance(reference, str) for reference in references):
            return bool(condition.options.get("operator") == "notEqual")
        return fits(cell.value, references)

    def _holds(self, formula: Node, condition: FormatCondition, cell: StoredCell) -> bool:
        context = self._place(condition, cell)
        try:
            return truth(scalar(formula(context), context))
        except FormulaError:
            return False

    def _place(self, condition: FormatCondition, cell: StoredCell) -> FormulaContext:
        top, left = min(area[0] for area in condition.areas), min(area[1] for area in condition.areas)
        return FormulaContext(cell.row, cell.column, cell.row - top, cell.column - left, self._values, self._steps)

    def _values(self, area: Area) -> list[Any]:
        return values_of(self._book, self._sheet, area)


def _condition(rule: Any, where: str, look: CellFormat) -> FormatCondition:
    formulas = tuple(item.text or "" for name in ("formula", "f") for item in rule.iterfind(f"{{*}}{name}"))
    priority = rule.get("priority", "")
    return FormatCondition(
        areas(where),
        rule.get("type", ""),
        int(priority) if priority.isdigit() else 0,
        formulas,
        dict(rule.items()),
        look,
    )


def _covers(condition: FormatCondition, cell: StoredCell) -> bool:
    return condition.kind not in _PICTURES and any(inside(cell.row, cell.column, area) for area in condition.areas)


def _fold_case(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_between(value: Any, references: list[Any]) -> bool:
    small, large = references[:2] if compare("<=", references[0], references[1]) else references[1::-1]
    return compare(">=", value, small) and compare("<=", value, large)


def _among_first(options: Any, numbers: list[float]) -> Test:
    """Top 10, bottom 20 percent and the like."""
    rank = int(options.get("rank", 10))
    if options.get("percent") in {"1", "true"}:
        rank = max(1, len(numbers) * rank // 100)
    ordered = sorted(numbers, reverse=options.get("bottom") not in {"1", "true"})
    best = set(ordered[:rank])
    return lambda cell: _is_number(cell.value) and float(cell.value or 0) in best


def _beside_mean(options: Any, numbers: list[float]) -> Test:
    mean = sum(numbers) / len(numbers) if numbers else 0.0
    above, equal = options.get("aboveAverage") not in {"0", "false"}, options.get("equalAverage") in {"1", "true"}
    if options.get("stdDev") not in {None, "0"}:
        raise NotUnderstood("conditions by standard deviation are not supported")
    return lambda cell: (
        _is_number(cell.value)
        and ((float(cell.value or 0) > mean) == above if float(cell.value or 0) != mean else equal)
    )
