"""Turns documents into verdicts: reads them, compares them, explains differences."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.documents import read_document
from backend.domain.model.score import MetricValue

if TYPE_CHECKING:
    from docx.document import Document

T = TypeVar("T")


def judge_document(
    result: str | None,
    take: Callable[["Document"], T],
    judge: Callable[[T], MetricValue],
    *,
    as_stored: bool = False,
) -> MetricValue:
    """The verdict of `judge` on what `take` reads from the agent's document; 0 with the reason if it is unreadable.

    Args:
        result: path of the document.
        take: see `read_document`, also for `as_stored`.
        judge: returns the verdict.
        as_stored: read the document as the published evaluators do.
    """
    value, reason = read_document(result, take, as_stored=as_stored)
    return verdict(met=False, reason=reason) if value is None else judge(value)


def compare_documents(
    result: str | None,
    expected: str | None,
    take: Callable[["Document"], T],
    judge: Callable[[T, T], MetricValue],
    *,
    as_stored: bool = False,
) -> MetricValue:
    """Compares two documents: `judge(actual, expected)`.

    Raises:
        EvaluatorFailed: the expected document cannot be read.
    """
    gold = expectation(expected, take, as_stored=as_stored)
    return judge_document(result, take, lambda actual: judge(actual, gold), as_stored=as_stored)


def expectation(expected: str | None, take: Callable[["Document"], T], *, as_stored: bool = False) -> T:
    """The content that `take` reads from the task's own document.

    Raises:
        EvaluatorFailed: it cannot be read.
    """
    value, reason = read_document(expected, take, as_stored=as_stored)
    if value is None:
        raise EvaluatorFailed(f"expected document: {reason}", code="invalid_reference")
    return value


def first_wrong(wrong: list[str], fine: str, most: int = 20) -> MetricValue:
    """1 if there are no differences; else 0 with the first ones as reason."""
    if not wrong:
        return verdict(met=True, reason=fine)
    more = (f"and {len(wrong) - most} more",) if len(wrong) > most else ()
    return MetricValue(value=0.0, reasons=(*wrong[:most], *more))
