"""Comparison of reference lists; the suites differ in the threshold of similarity."""

from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.docs._documents import compare_documents
from backend.domain.evaluators.metrics.docs._texts import ratio
from backend.domain.formats.documents import texts
from backend.domain.model.score import MetricValue

if TYPE_CHECKING:
    from docx.document import Document

_MOST = 10
"""Maximum reasons shown."""


def compare_lists(  # noqa: PLR0913 - upstream's options.
    result: str | None,
    expected: str | None,
    *,
    reference_indicator: str,
    reference_base_result: float,
    content_only: bool,
    epsilon: float,
    strict_upstream: bool,
) -> MetricValue:
    """The mean similarity of the references above the base, as a fraction of the range above it.

    Raises:
        EvaluatorFailed: the expected document has no reference list, or the base is invalid.
    """
    base = reference_base_result
    if isinstance(base, bool) or not isinstance(base, int | float) or not 0 <= base < 1:
        raise EvaluatorFailed(f"`reference_base_result` is {base!r}, which is not in [0, 1)", code="invalid_rule")

    def take(document: "Document") -> list[str]:
        return _after(texts(document), reference_indicator, strict=strict_upstream)

    def judge(actual: list[str], expected: list[str]) -> MetricValue:
        if not expected:
            if strict_upstream and not actual:
                return verdict(met=True, reason=f"neither document has the heading {reference_indicator!r}")
            raise EvaluatorFailed(
                f"the expected document has no references below {reference_indicator!r}",
                code="invalid_reference",
            )
        if len(actual) != len(expected):
            return verdict(met=False, reason=f"{len(actual)} references, expected {len(expected)}")
        if content_only and not strict_upstream:
            actual, expected = ([" ".join(text.split()) for text in texts] for texts in (actual, expected))
        return _value(actual, expected, base, epsilon)

    return compare_documents(result, expected, take, judge, as_stored=strict_upstream)


def _after(paragraphs: list[str], heading: str, *, strict: bool) -> list[str]:
    """The non-empty paragraphs after the heading; empty if the heading is missing."""
    heads = [text if strict else text.strip() for text in paragraphs]
    if heading not in heads:
        return []
    return [text for text in paragraphs[heads.index(heading) + 1 :] if text.strip()]


def _value(actual: list[str], expected: list[str], base: float, epsilon: float) -> MetricValue:
    ratios = [ratio(result, gold) for result, gold in zip(actual, expected, strict=True)]
    mean = sum(ratios) / len(ratios)
    value = (mean - base) / (1 - base) if mean >= base + epsilon else 0.0
    reasons = [f"reference similarity {mean:.4f}, counted above {base:g} counts"]
    reasons += [
        f"reference {number} has similarity {ratio:.3f}: {short(result)}, expected {short(gold)}"
        for number, (ratio, result, gold) in enumerate(zip(ratios, actual, expected, strict=True), start=1)
        if ratio < 1.0
    ][:_MOST]
    return MetricValue(value=value, reasons=tuple(reasons))
