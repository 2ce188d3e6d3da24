"""`freeze`: two sheets have the same rows and columns frozen."""

from typing import Any, Literal

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair
from backend.domain.formats.sheet import Sheet, bounds


class FreezeRule(PairRule):
    """No options besides the sheets. WAA compares the first visible cell, which changes by scrolling.

    Upstream does not see where the frozen area begins: rows above it cannot be scrolled to.
    """

    type: Literal["freeze"]

    def judge(self, books: WorkbookPair) -> list[str]:
        both = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet(reference)
            if sheet is None:
                return [books.lacks(reference)]
            both.append(_pane(sheet, strict=books.strict, waa=books.waa))
        return [] if both[0] == both[1] else [f"the pane is {short(both[0])}, expected {short(both[1])}"]


def _pane(sheet: Sheet, *, strict: bool, waa: bool) -> tuple[Any, ...]:
    """Frozen columns and rows and where they begin; for a split pane also its first visible cell."""
    pane = sheet.root.find("{*}sheetViews/{*}sheetView/{*}pane")
    if pane is None:
        return ("none",)
    if strict and waa:
        return (pane.get("topLeftCell"),)
    size = (_whole(pane.get("xSplit")), _whole(pane.get("ySplit")))
    if pane.get("state", "split").lower() in {"frozen", "frozensplit"}:
        first = bounds(sheet.root.find("{*}sheetViews/{*}sheetView").get("topLeftCell", "A1"))
        begin = (1, 1) if first is None or strict else first[:2]
        return ("frozen", *size, *(begin[axis] if size[1 - axis] else 1 for axis in (0, 1)))
    return ("split", *size, pane.get("topLeftCell"))


def _whole(text: str | None) -> int:
    try:
        return int(float(text or 0))
    except (ValueError, OverflowError):
        return 0
