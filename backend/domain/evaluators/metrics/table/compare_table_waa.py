"""`compare_table` of WAA: as the common one, but that `strict_upstream` keeps WAA's faults instead of OSWorld's."""

from typing import Any

from backend.domain.evaluators.metrics.table._tables import checked, judged
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_table", dialect="waa")
@checked
def compare_table(
    result: str | None, expected: str | None = None, *, strict_upstream: bool = False, **options: Any
) -> MetricValue:
    """1 if all rules are met; see the common one."""
    return judged(result, expected, options, strict=strict_upstream, waa=True)
