"""`is_in_list`: the rule's value is in the actual list."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import among
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_in_list")
def is_in_list(result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if `rules["expected"]` is in the list `result`, or is a substring of it if both are texts.

    Args:
        result: the list or text.
        rules: `expected`.
        strict_upstream: `true` equals 1.
    """
    expected = rule(rules, "expected")
    text = f"{short(expected)} among {short(result)}"
    if isinstance(result, str):
        return verdict(isinstance(expected, str) and expected in result, text)
    if not isinstance(result, list | tuple | set | Mapping):
        return verdict(met=False, reason=f"expected a list, got {short(result)}")
    return verdict(expected in list(result) if strict_upstream else among(expected, result), text)
