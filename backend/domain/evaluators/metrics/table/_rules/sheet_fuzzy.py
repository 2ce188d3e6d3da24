"""`sheet_fuzzy`: similar cells in ranges, each range with its own comparison."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.evaluators.metrics.table._books import PairRule, WorkbookPair, first_reasons
from backend.domain.evaluators.metrics.table._matching import areas
from backend.domain.evaluators.metrics.table._values import text_of
from backend.domain.formats.sheet import Bounds, address
from backend.domain.model.parameters import Parameters

MAX_CELLS = 200_000
_NOTHING = "None"  # upstream's text of an empty cell


class RangeRule(Parameters):
    """How to compare the cells of some ranges; removals apply to both texts.

    Attributes:
        range: areas such as `A1:B6`.
        type: `includes` (the first sheet's text has the second's), `included_by`, `fuzzy_match`, `exact_match`.
        threshold: threshold of `fuzzy_match`, in percent.
        normalization: pairs of a text and its replacement.
    """

    range: tuple[str, ...] | str
    type: Literal["includes", "included_by", "fuzzy_match", "exact_match"]
    threshold: float = 85.0
    ignore_case: bool = False
    ignore_chars: str = ""
    trim_leadings: str = ""
    trim_trailings: str = ""
    normalization: tuple[tuple[str, str], ...] = ()

    @model_validator(mode="after")
    def _has_cells(self) -> Self:
        parts = self.range.split() if isinstance(self.range, str) else self.range
        if not parts or any(not areas(part) for part in parts):
            raise ValueError(f"{self.range!r} is not a list of ranges")
        if sum((a[2] - a[0] + 1) * (a[3] - a[1] + 1) for a in self.areas) > MAX_CELLS:
            raise ValueError(f"{self.range!r} has more than {MAX_CELLS} cells")
        return self

    @property
    def areas(self) -> list[Bounds]:
        return areas(self.range if isinstance(self.range, str) else " ".join(self.range))

    def cells(self) -> Iterator[tuple[int, int]]:
        """Row and column of every cell."""
        for top, left, bottom, right in self.areas:
            yield from ((row, column) for row in range(top, bottom + 1) for column in range(left, right + 1))

    def alike(self, actual: str | None, expected: str | None, *, strict: bool) -> bool:
        """Whether two cells agree. An empty cell only matches an empty one; upstream reads it as the word None."""
        if not strict and (actual is None or expected is None):
            return actual is expected
        result, other = (self._plain(_NOTHING if text is None else text) for text in (actual, expected))
        match self.type:
            case "includes":
                return other in result
            case "included_by":
                return result in other
            case "exact_match":
                return result == other
        from rapidfuzz import fuzz

        return bool(fuzz.ratio(result, other) >= self.threshold)

    def _plain(self, text: str) -> str:
        for old, new in self.normalization:
            text = text.replace(old, new)
        text = text.lstrip(self.trim_leadings) if self.trim_leadings else text
        text = text.rstrip(self.trim_trailings) if self.trim_trailings else text
        text = "".join(letter for letter in text if letter not in self.ignore_chars)
        return text.lower() if self.ignore_case else text


class SheetFuzzyRule(PairRule):
    """`rules`: ranges and their comparisons; all cells must agree."""

    type: Literal["sheet_fuzzy"]
    rules: tuple[RangeRule, ...] = Field(min_length=1)

    def judge(self, books: WorkbookPair) -> list[str]:
        reasons = [books.lacks(sheet) for sheet in (self.sheet_idx0, self.sheet_idx1) if books.sheet(sheet) is None]
        return reasons or first_reasons(self._differences(books))

    def _differences(self, books: WorkbookPair) -> Iterator[str]:
        for rule in self.rules:
            for row, column in rule.cells():
                actual, expected = (text_of(books, sheet, row, column) for sheet in (self.sheet_idx0, self.sheet_idx1))
                if not rule.alike(actual, expected, strict=books.strict):
                    yield f"{address(row, column)}: got {short(actual)}, expected {short(expected)} ({rule.type})"
