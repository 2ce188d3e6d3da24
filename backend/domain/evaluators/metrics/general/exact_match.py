"""`exact_match`: the value equals the rule's."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "exact_match")
def exact_match(result: Any, rules: Mapping[str, Any]) -> MetricValue:
    """1 if `result == rules["expected"]`, as Python compares: `1.0` equals `true`, a list its elements in order."""
    expected = rule(rules, "expected")
    return verdict(result == expected, f"expected {short(expected)}, found {short(result)}")
