"""`compare_table`: a workbook is as a list of rules says, most of them beside another workbook."""

from typing import Any

from backend.domain.evaluators.metrics.table._tables import checked, judged
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_table")
@checked
def compare_table(
    result: str | None, expected: str | None = None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """1 if all rules are met. OSWorld's behaviour, which WAA shares on all but faults.

    Args:
        result: path of the .xlsx file to judge.
        expected: path of the one to compare with; None where the rules only look at the result.
        strict_upstream: keeps OSWorld's faults (docs/internals/evaluators.md).
        **options: `rules`, see `_rules`.
    """
    return judged(result, expected, options, strict=strict_upstream)


@register(PluginKind.METRIC, "compare_table", dialect="waa")
@checked
def compare_table_waa(
    result: str | None, expected: str | None = None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """`compare_table` of WAA: as the common one, but that `strict_upstream` keeps WAA's faults instead of OSWorld's.

    1 if all rules are met; see the common one.
    """
    return judged(result, expected, options, strict=strict_upstream, waa=True)
