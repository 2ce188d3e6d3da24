"""Combines the rules of `compare_table` into a verdict; dialects differ in their strict mode."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import Field

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.evaluators.metrics.table._books import MOST_REASONS, Rule, WorkbookPair
from backend.domain.evaluators.metrics.table._rules.chart import ChartRule
from backend.domain.evaluators.metrics.table._rules.check_cell import CheckCellRule
from backend.domain.evaluators.metrics.table._rules.data_validation import DataValidationRule
from backend.domain.evaluators.metrics.table._rules.filter import FilterRule
from backend.domain.evaluators.metrics.table._rules.freeze import FreezeRule
from backend.domain.evaluators.metrics.table._rules.pivot_table import PivotTableRule
from backend.domain.evaluators.metrics.table._rules.row_props import ColumnPropsRule, RowPropsRule
from backend.domain.evaluators.metrics.table._rules.sheet_data import SheetDataRule
from backend.domain.evaluators.metrics.table._rules.sheet_fuzzy import SheetFuzzyRule
from backend.domain.evaluators.metrics.table._rules.sheet_name import SheetNameRule
from backend.domain.evaluators.metrics.table._rules.sheet_print import SheetPrintRule
from backend.domain.evaluators.metrics.table._rules.sparkline import SparklineRule
from backend.domain.evaluators.metrics.table._rules.style import StyleRule
from backend.domain.evaluators.metrics.table._rules.zoom import ZoomRule
from backend.domain.formats.failures import let_through
from backend.domain.formats.sheet import DamagedWorkbook
from backend.domain.formats.workbook import Workbook, read_workbook
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import MetricValue

_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of rules for invalid numbers, names and references in a workbook."""
T = TypeVar("T", bound=Callable[..., MetricValue])
AnyRule = Annotated[
    ChartRule
    | CheckCellRule
    | ColumnPropsRule
    | DataValidationRule
    | FilterRule
    | FreezeRule
    | PivotTableRule
    | RowPropsRule
    | SheetDataRule
    | SheetFuzzyRule
    | SheetNameRule
    | SheetPrintRule
    | SparklineRule
    | StyleRule
    | ZoomRule,
    Field(discriminator="type"),
]


class TableOptions(Parameters):
    """The options of `compare_table`: a list of rules that must all be met."""

    rules: tuple[AnyRule, ...] = Field(min_length=1)


def check_options(options: Mapping[str, Any]) -> None:
    """Raises Invalid with the position of the first invalid option."""
    TableOptions.parse(options)


def with_check(metric: T) -> T:
    """Gives a metric its `check`, which validates a task's options without any file."""
    metric.check = check_options  # type: ignore[attr-defined]
    return metric


def judge_tables(
    result: str | None, expected: str | None, options: Mapping[str, Any], *, strict: bool, waa: bool = False
) -> MetricValue:
    """1 if all rules are met. All are evaluated, so that the reasons are complete and independent of their order."""
    try:
        rules = TableOptions.parse(options).rules
    except Invalid as error:
        raise EvaluatorFailed(f"options of compare_table: {error.message}", code="invalid_rule") from error
    gold = None if expected is None else _expectation(expected)
    book, reason = read_workbook(result)
    if book is None:
        return verdict(met=False, reason=reason)
    books = WorkbookPair(book, gold, strict=strict, waa=waa)
    wrong = [
        f"rule {number} ({rule.type}): {words}"
        for number, rule in enumerate(rules, 1)
        for words in _apply_rule(rule, books)
    ]
    reasons = (*wrong[:MOST_REASONS], *dict.fromkeys(books.notes))
    return MetricValue(
        value=float(not wrong), reasons=reasons[: MOST_REASONS + 5] or (f"all {len(rules)} rules are met",)
    )


def _expectation(path: str) -> Workbook:
    book, reason = read_workbook(path)
    if book is None:
        raise EvaluatorFailed(f"expected workbook: {reason}", code="invalid_reference")
    return book


def _apply_rule(rule: Rule, books: WorkbookPair) -> list[str]:
    try:
        return rule.judge(books)
    except DamagedWorkbook as error:
        if books.expected is not None and error.path == books.expected.path:
            raise EvaluatorFailed(f"expected workbook: {error}", code="invalid_reference") from error
        return [f"the workbook is damaged: {error}"]
    except _DAMAGE as error:
        let_through(error, books.result.path)
        if books.expected is not None and _is_damaged(rule, books.expected):
            raise EvaluatorFailed(f"the workbook to compare with: {error!r:.200}", code="invalid_reference") from error
        return [f"the workbook is damaged: {error!r:.200}"]


def _is_damaged(rule: Rule, book: Workbook) -> bool:
    """Whether a rule also fails when the workbook is compared with itself."""
    try:
        rule.judge(WorkbookPair(book, book))
    except _DAMAGE:
        return True
    except EvaluatorFailed:
        return False
    return False
