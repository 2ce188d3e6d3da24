"""`sparkline`: two sheets have the same sparklines in the same cells."""

from typing import Literal

from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair, differences
from backend.domain.formats.sparklines import read_sparklines


class SparklineRule(PairRule):
    """Rule without options beside the sheets.

    Upstream finds sheets by id, which changes when a sheet is recreated.
    """

    type: Literal["sparkline"]

    def judge(self, books: WorkbookPair) -> list[str]:
        both = []
        for reference in (self.sheet_idx0, self.sheet_idx1):
            sheet = books.sheet_as_read(reference)
            if sheet is None:
                return [books.lacks(reference)]
            sparklines = read_sparklines(sheet)
            both.append(sparklines if books.strict else {at: data.lower() for at, data in sparklines.items()})
        return differences(both[0], both[1], noun="sparkline in")
