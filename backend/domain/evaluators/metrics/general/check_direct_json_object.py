"""`check_direct_json_object`: an object has the expected values."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics.general._json_objects import compare_objects
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_direct_json_object")
def check_direct_json_object(result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if every key of `rules["expected"]` has its value in the result; see `compare_objects` for the forms.

    Args:
        result: an object, or its JSON (Python's quotes are accepted).
        rules: `expected`, `expect_in_result`, `ignore_list_order`.
        strict_upstream: as published: quotes are swapped before parsing, the order of lists always counts (a flag
            inside `expected` gives 0), and in `expect_in_result` only texts and lists can match.
    """
    return compare_objects(result, rules, strict=strict_upstream)


@register(PluginKind.METRIC, "check_direct_json_object", dialect="waa")
def check_direct_json_object_waa(
    result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """`check_direct_json_object` of WindowsAgentArena.

    As the common one; as published (`strict_upstream`), a list in `expect_in_result` matches lists only.
    """
    return compare_objects(result, rules, strict=strict_upstream, strict_lists_only=True)
