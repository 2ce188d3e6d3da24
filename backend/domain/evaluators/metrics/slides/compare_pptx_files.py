"""`compare_pptx_files`: two presentations agree in the aspects that a task examines."""

from typing import Any

from backend.domain.evaluators.metrics.slides._compare.options import CompareMode
from backend.domain.evaluators.metrics.slides._compare.verdicts import compare
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_pptx_files")
def compare_pptx_files(
    result: str | None, expected: str | None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """1 if the presentations agree in all that is examined.

    Args:
        result: path of the agent's .pptx file.
        expected: path of the expected .pptx file.
        strict_upstream: compare only what OSWorld's function compares (docs/internals/evaluators.md).
        options: `examine_*` and `approximately_tolerance`, see `_compare.options`.

    Raises:
        EvaluatorFailed: the expected file cannot be read, or an option is invalid.
    """
    return compare(result, expected, options, CompareMode(strict=strict_upstream))


@register(PluginKind.METRIC, "compare_pptx_files", dialect="waa")
def compare_pptx_files_waa(
    result: str | None, expected: str | None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """`compare_pptx_files` of WindowsAgentArena: exact, without OSWorld's tolerances.

    1 if the presentations agree in all that is examined.

    Args:
        result: path of the agent's .pptx file.
        expected: path of the expected .pptx file.
        strict_upstream: compare only what that suite's function compares (docs/internals/evaluators.md).
        options: `examine_*`, see `_compare.options`.

    Raises:
        EvaluatorFailed: the expected file cannot be read, or an option is invalid.
    """
    return compare(result, expected, options, CompareMode(waa=True, strict=strict_upstream))
