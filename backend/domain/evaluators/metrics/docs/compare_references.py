"""`compare_references`: two documents list the same references."""

from backend.domain.evaluators.metrics.docs._references import compare_lists
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_references")
def compare_references(  # noqa: PLR0913 - upstream's options.
    result: str | None,
    expected: str | None,
    *,
    reference_indicator: str = "References",
    reference_base_result: float = 0.5,
    content_only: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """(mean similarity - base) / (1 - base) if the mean is more than 0.01 above the base, else 0.

    Args:
        result: path of the .docx file to judge.
        expected: path of the expected .docx file.
        reference_indicator: the heading of the list, a paragraph of its own.
        reference_base_result: the base: similarity of the lists at the start.
        content_only: any run of white space in a reference counts as one blank.
        strict_upstream: ignore `content_only`; two documents without the heading are equal.
    """
    return compare_lists(
        result,
        expected,
        reference_indicator=reference_indicator,
        reference_base_result=reference_base_result,
        content_only=content_only,
        epsilon=0.01,
        strict_upstream=strict_upstream,
    )


@register(PluginKind.METRIC, "compare_references", dialect="waa")
def compare_references_waa(  # noqa: PLR0913 - upstream's options.
    result: str | None,
    expected: str | None,
    *,
    reference_indicator: str = "References",
    reference_base_result: float = 0.5,
    content_only: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """`compare_references` of WindowsAgentArena: two documents list the same references.

    (mean similarity - base) / (1 - base) if the mean is at least the base, else 0.

    Args:
        result: path of the .docx file to judge.
        expected: path of the expected .docx file.
        reference_indicator: the heading of the list, a paragraph of its own.
        reference_base_result: the base: similarity of the lists at the start.
        content_only: any run of white space in a reference counts as one blank.
        strict_upstream: ignore `content_only`; two documents without the heading are equal.
    """
    return compare_lists(
        result,
        expected,
        reference_indicator=reference_indicator,
        reference_base_result=reference_base_result,
        content_only=content_only,
        epsilon=0.0,
        strict_upstream=strict_upstream,
    )
