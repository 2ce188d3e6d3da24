"""`check_direct_json_object` of WindowsAgentArena."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.general._json_objects import compare_objects
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_direct_json_object", dialect="waa")
def check_direct_json_object_waa(
    result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """As the common one; as published (`strict_upstream`), a list in `expect_in_result` fits lists only."""
    return compare_objects(result, rules, strict=strict_upstream, strict_lists_only=True)
