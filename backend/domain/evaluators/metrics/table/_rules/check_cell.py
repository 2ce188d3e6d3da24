"""`check_cell`: value and format of a single cell."""

from typing import Literal, Self

from pydantic import Field, model_validator

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import Rule, SheetReference, WorkbookPair
from backend.domain.evaluators.metrics.table._looks import CellProperty, SheetFormats, in_one_form
from backend.domain.evaluators.metrics.table._matching import ValueRule
from backend.domain.evaluators.metrics.table._values import value_of
from backend.domain.formats.sheet import bounds


class CheckCellRule(Rule):
    """All comparisons must hold.

    Attributes:
        coordinate: `E3`.
        props: `value` or a property of `_looks` -> comparison.
    """

    type: Literal["check_cell"]
    sheet_idx: SheetReference
    coordinate: str
    props: dict[Literal["value"] | CellProperty, ValueRule] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_cell(self) -> Self:
        area = bounds(self.coordinate)
        if area is None or area[:2] != area[2:]:
            raise ValueError(f"{self.coordinate!r} is not a cell")
        return self

    def judge(self, books: WorkbookPair) -> list[str]:
        sheet = books.sheet(self.sheet_idx)
        if sheet is None:
            return [books.lacks(self.sheet_idx)]
        row, column = (bounds(self.coordinate) or (1, 1))[:2]
        looks, reasons = SheetFormats(books, books.book(self.sheet_idx), sheet, as_written=True), []
        for name, rule in self.props.items():
            value = value_of(books, self.sheet_idx, row, column) if name == "value" else looks.at(row, column, name)
            by_form = not books.strict and rule.method == "eq" and isinstance(value, str)
            same = by_form and in_one_form(name, value) == in_one_form(name, rule.ref)
            if not same and not rule.matches(value, strict=books.strict):
                reasons.append(f"{self.coordinate}: {name} is {short(value)}, expected {rule.method} {short(rule.ref)}")
        return reasons
