"""`compare_csv` of WAA: as the common one, but `strict_upstream` keeps the byte-order mark, as WAA does."""

from collections.abc import Sequence

from backend.domain.evaluators.metrics.table._csv import compared
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_csv", dialect="waa")
def compare_csv(
    result: str | None,
    expected: str | Sequence[str | None] | None,
    *,
    strict: bool = True,
    ignore_case: bool = False,
    strict_upstream: bool = False,
) -> MetricValue:
    """1 if all lines are the same; see the common one."""
    return compared(result, expected, strict=strict, ignore_case=ignore_case, keep_mark=strict_upstream)
