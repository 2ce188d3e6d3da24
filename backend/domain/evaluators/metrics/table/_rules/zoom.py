"""`zoom`: the zoom level of a sheet."""

from typing import Any, Literal, Self

from pydantic import model_validator

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import Rule, SheetReference, WorkbookPair
from backend.domain.evaluators.metrics.table._matching import ValueRule


class ZoomRule(Rule):
    """`method` and `ref` as in `_matching`, on the percentage; the default is 100."""

    type: Literal["zoom"]
    sheet_idx: SheetReference
    method: str
    ref: Any

    @model_validator(mode="after")
    def _understood(self) -> Self:
        ValueRule(method=self.method, ref=self.ref)
        return self

    def judge(self, books: WorkbookPair) -> list[str]:
        sheet = books.sheet(self.sheet_idx)
        if sheet is None:
            return [books.lacks(self.sheet_idx)]
        view = sheet.root.find("{*}sheetViews/{*}sheetView")
        written = None if view is None else view.get("zoomScale")
        zoom = int(written) if written and written.isdigit() and int(written) else 100
        met = ValueRule(method=self.method, ref=self.ref).matches(zoom)
        return [] if met else [f"the zoom is {zoom} %, expected {self.method} {short(self.ref)}"]
