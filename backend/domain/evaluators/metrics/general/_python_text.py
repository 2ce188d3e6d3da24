"""Compares two files of Python source after normalisation."""

from collections.abc import Callable

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue


def compare_sources(result: str | None, expected: str | None, lines_of: Callable[[str], list[str]]) -> MetricValue:
    """1 if both texts have the same lines after `lines_of`; the reason has the first difference."""
    gold, reason = read_text(expected)
    if gold is None:
        raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
    actual, reason = read_text(result)
    if actual is None:
        return verdict(met=False, reason=reason)
    own, other = lines_of(actual), lines_of(gold)
    for number, (left, right) in enumerate(zip(own, other, strict=False), start=1):
        if left != right:
            return verdict(met=False, reason=f"relevant line {number} is {short(left)}, expected {short(right)}")
    return verdict(len(own) == len(other), f"{len(own)} relevant lines, expected {len(other)}")
