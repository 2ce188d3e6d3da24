"""Base of the rules of `compare_table`: the two workbooks, and references to their sheets."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, StrictInt, StrictStr

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.formats.sheet import Sheet
from backend.domain.formats.workbook import Workbook
from backend.domain.model.parameters import Parameters

MOST_REASONS = 20
_BY_NUMBER = re.compile(r"[RE]I(-?\d{1,4})")
_BY_NAME = re.compile(r"[RE]N(.+)", re.DOTALL)


def _known_form(reference: int | str) -> int | str:
    if isinstance(reference, str) and not (_BY_NUMBER.fullmatch(reference) or _BY_NAME.fullmatch(reference)):
        raise ValueError(f"a sheet is named by a number, RI0, EI0, RNname or ENname, not {reference!r}")
    return reference


SheetReference = Annotated[StrictInt | StrictStr, AfterValidator(_known_form)]
"""A sheet: `0` and `RI0` the result's first, `EI0` the expectation's, `RNSheet1` and `ENSheet1` those by name."""


@dataclass
class WorkbookPair:
    """The two workbooks of a comparison.

    Attributes:
        result: the agent's workbook.
        expected: the expected workbook; None if the task has none.
        strict: reproduce upstream's bugs.
        waa: those of WAA instead of OSWorld.
        notes: remarks on the verdict for people.
    """

    result: Workbook
    expected: Workbook | None = None
    strict: bool = False
    waa: bool = False
    notes: list[str] = field(default_factory=list)

    def book(self, reference: int | str) -> Workbook:
        """The workbook that a reference names."""
        if isinstance(reference, int) or reference.startswith("R"):
            return self.result
        if self.expected is None:
            raise EvaluatorFailed(
                f"a rule refers to {reference!r}, but the task has no expectation", code="invalid_rule"
            )
        return self.expected

    def name(self, reference: int | str) -> str | None:
        """The name of the sheet.

        Returns:
            None if the result has no such sheet, which is the agent's fault.

        Raises:
            EvaluatorFailed: the expected workbook has no such sheet.
        """
        book = self.book(reference)
        name = _name(reference, book, exact=self.strict)
        if name is None and book is self.expected:
            raise EvaluatorFailed(
                f"the expectation has no sheet {reference!r}, only {', '.join(book.names)[:200]}",
                code="invalid_reference",
            )
        return name

    def sheet(self, reference: int | str) -> Sheet | None:
        """The sheet; None if the result does not have it."""
        name = self.name(reference)
        sheet = None if name is None else self.book(reference).sheet(name)
        if sheet is None and name is not None and self.book(reference) is self.expected:
            raise EvaluatorFailed(f"the expectation's {name!r} is not a worksheet", code="invalid_reference")
        return sheet

    def sheet_as_read(self, reference: int | str) -> Sheet | None:
        """The sheet; if strict, the one that upstream reads instead: the part whose number is the sheet's id."""
        sheet, book = self.sheet(reference), self.book(reference)
        if sheet is None or not self.strict:
            return sheet
        part = f"xl/worksheets/sheet{sheet.place.number}.xml"
        owner = next((candidate.name for candidate in book.places if candidate.part == part), None)
        return None if owner is None else book.sheet(owner)

    def lacks(self, reference: int | str) -> str:
        """The reason that the result does not have a sheet."""
        return f"there is no sheet {reference!r}, only {', '.join(self.result.names)[:200]}"


def _name(reference: int | str, book: Workbook, *, exact: bool) -> str | None:
    by_number = _BY_NUMBER.fullmatch(str(reference)) if isinstance(reference, str) else None
    if isinstance(reference, int) or by_number is not None:
        number = reference if isinstance(reference, int) else int(by_number[1]) if by_number else 0
        return book.names[number] if -len(book.names) <= number < len(book.names) else None
    sheet = book.place(reference[2:])
    return None if sheet is None or (exact and sheet.name != reference[2:]) else sheet.name


class Rule(Parameters):
    """Base of the rules. `judge` returns descriptions of the differences; empty if the rule is met."""

    type: str

    def judge(self, books: WorkbookPair) -> list[str]:
        raise NotImplementedError


class PairRule(Rule):
    """Base of the rules that compare two sheets, usually one of the result with one of the expectation."""

    sheet_idx0: SheetReference
    sheet_idx1: SheetReference


def differences(actual: Mapping[Any, Any], expected: Mapping[Any, Any], noun: str) -> list[str]:
    """Descriptions of the first few differing keys of two mappings."""
    keys = [
        key
        for key in {**expected, **actual}
        if key not in actual or key not in expected or actual[key] != expected[key]
    ]
    return first_reasons(
        f"{noun} {key}: got {short(actual.get(key))}, expected {short(expected.get(key))}" for key in keys
    )


def first_reasons(reasons: Iterable[str]) -> list[str]:
    """The first few reasons, and how many more there are."""
    listed = list(reasons)
    more = len(listed) - MOST_REASONS
    return listed if more <= 0 else [*listed[:MOST_REASONS], f"and {more} more"]
