"""`compare_table`: a workbook satisfies a list of rules, most of which compare it with another workbook."""

from typing import Any

from backend.domain.evaluators.metrics.table._tables import judge_tables, with_check
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_table")
@with_check
def compare_table(
    result: str | None, expected: str | None = None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """1 if all rules are met. OSWorld's behaviour, which WAA shares except for bugs.

    Args:
        result: path of the .xlsx file to judge.
        expected: path of the expected workbook; None if the rules only use the result.
        strict_upstream: reproduces OSWorld's bugs (docs/internals/evaluators.md).
        **options: `rules`, see `_rules`.
    """
    return judge_tables(result, expected, options, strict=strict_upstream)


@register(PluginKind.METRIC, "compare_table", dialect="waa")
@with_check
def compare_table_waa(
    result: str | None, expected: str | None = None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """`compare_table` of WAA: `strict_upstream` reproduces WAA's bugs instead of OSWorld's.

    1 if all rules are met; see the common one.
    """
    return judge_tables(result, expected, options, strict=strict_upstream, waa=True)
