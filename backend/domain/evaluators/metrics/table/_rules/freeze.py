"""`freeze`: two sheets have the same rows and columns frozen."""

from typing import Any, Literal

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair
from backend.domain.formats.sheet import Sheet


class FreezeRule(PairRule):
    """No options besides the sheets. WAA compares the first visible cell, which changes by scrolling."""

    type: Literal["freeze"]

    def judge(self, books: WorkbookPair) -> list[str]:
        both = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet(reference)
            if sheet is None:
                return [books.lacks(reference)]
            both.append(_pane(sheet, first_cell=books.strict and books.waa))
        return [] if both[0] == both[1] else [f"the pane is {short(both[0])}, expected {short(both[1])}"]


def _pane(sheet: Sheet, *, first_cell: bool) -> tuple[Any, ...]:
    """Frozen columns and rows; for a split pane also its first visible cell."""
    pane = sheet.root.find("{*}sheetViews/{*}sheetView/{*}pane")
    if pane is None:
        return ("none",)
    if first_cell:
        return (pane.get("topLeftCell"),)
    size = (_whole(pane.get("xSplit")), _whole(pane.get("ySplit")))
    if pane.get("state", "split").lower() in {"frozen", "frozensplit"}:
        return ("frozen", *size)
    return ("split", *size, pane.get("topLeftCell"))


def _whole(text: str | None) -> int:
    try:
        return int(float(text or 0))
    except (ValueError, OverflowError):
        return 0
