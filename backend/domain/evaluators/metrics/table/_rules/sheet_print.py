"""`sheet_print`: two sheets look the same in print, by the CSV files that tasks export beside the workbooks."""

from typing import Literal

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, SheetReference, WorkbookPair, first_reasons
from backend.domain.formats.csvs import beside, read_lines


class SheetPrintRule(PairRule):
    """Compares line by line, ignoring trailing blanks and trailing empty lines.

    Attributes:
        ignore_case: ignore case.
    """

    type: Literal["sheet_print"]
    ignore_case: bool = False

    def judge(self, books: WorkbookPair) -> list[str]:
        (actual, reason), (expected, other) = (_lines(books, sheet) for sheet in (self.sheet_idx0, self.sheet_idx1))
        if actual is None or expected is None:
            return [reason or other]
        if self.ignore_case:
            actual, expected = ([line.lower() for line in lines] for lines in (actual, expected))
        pairs = enumerate(zip(actual, expected, strict=False), 1)
        reasons = [f"line {at}: got {short(a)}, expected {short(b)}" for at, (a, b) in pairs if a != b]
        if len(actual) != len(expected):
            reasons.append(f"{len(actual)} lines, expected {len(expected)}")
        return first_reasons(reasons)


def _lines(books: WorkbookPair, reference: SheetReference) -> tuple[list[str] | None, str]:
    name, book = books.name(reference), books.book(reference)
    if name is None:
        return None, books.lacks(reference)
    lines, reason = read_lines(beside(book.path, name), as_published=books.strict)
    if lines is None and book is books.expected:
        raise EvaluatorFailed(f"the CSV file of the expectation's sheet {name!r}: {reason}", code="invalid_reference")
    if lines is None:
        return None, f"the CSV file of the sheet {name!r}: {reason}"
    stripped = [line.strip() for line in lines]
    while stripped and not stripped[-1]:
        stripped.pop()
    return stripped, ""
