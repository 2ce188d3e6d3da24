"""`sheet_name`: the worksheets have the same names in the same order."""

from typing import Literal

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import Rule, WorkbookPair


class SheetNameRule(Rule):
    """Rule `sheet_name`, without options."""

    type: Literal["sheet_name"]

    def judge(self, books: WorkbookPair) -> list[str]:
        if books.expected is None:
            raise EvaluatorFailed("the rule sheet_name compares, but the task has no expectation", code="invalid_rule")
        actual, expected = books.result.names, books.expected.names
        return [] if actual == expected else [f"the sheets are {short(actual)}, expected {short(expected)}"]
