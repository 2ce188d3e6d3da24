"""`sheet_data`: two sheets have the same values."""

from typing import Literal

from pydantic import Field

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair, first_reasons
from backend.domain.evaluators.metrics.table._frames import CellComparison, SheetFrame, frame_differences
from backend.domain.formats.sheet import address, column_letters


class SheetDataRule(PairRule):
    """Values as last computed, not formulas.

    Attributes:
        precision: decimal digits that are compared.
        ignore_case: ignore case. Upstream's tasks set it, upstream ignores it.
    """

    type: Literal["sheet_data"]
    precision: int = Field(default=4, ge=-15, le=15)
    ignore_case: bool = False

    def judge(self, books: WorkbookPair) -> list[str]:
        frames = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet(reference)
            if sheet is None:
                return [books.lacks(reference)]
            frames.append(
                SheetFrame(books.book(reference), sheet, CellComparison(self.precision, self.ignore_case, books.strict))
            )
        differences = frame_differences(frames[0], frames[1], strict=books.strict)
        return first_reasons(_words(row, column, actual, gold) for row, column, actual, gold in differences)


def _words(row: int, column: int, actual: object, gold: object) -> str:
    where = address(row, column) if row else f"column {column_letters(column)}" if column else "the sheet"
    return f"{where}: got {_to_text(actual)}, expected {_to_text(gold)}"


def _to_text(value: object) -> str:
    if isinstance(value, tuple):
        return str(value[1]).upper()
    return short(value)
