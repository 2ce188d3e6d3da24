"""`exact_match`: the value equals the rule's."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import compare
from backend.domain.formats.text import line_feeds
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "exact_match")
def exact_match(result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if `result` equals `rules["expected"]` by type and value, a list with its elements in order.

    Line ends of Windows equal others.

    Args:
        result: the value to judge.
        rules: `expected`.
        strict_upstream: `true` equals 1, and line ends differ.
    """
    expected = rule(rules, "expected")
    if isinstance(result, str) and isinstance(expected, str) and not strict_upstream:
        result, expected = line_feeds(result), line_feeds(expected)
    met = compare("eq", result, expected, by_type=not strict_upstream)
    return verdict(met, f"expected {short(expected)}, found {short(result)}")


@register(PluginKind.METRIC, "exact_match", dialect="waa")
def exact_match_waa(result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """`exact_match` of WindowsAgentArena: a getter's answer that is true equals 1.0, too, one that is false 0.0.

    Its tasks write either for the same getter.

    Args:
        result: the value to judge.
        rules: `expected`.
        strict_upstream: inside lists, too.
    """
    is_answer = isinstance(result, bool) and isinstance(rule(rules, "expected"), float)
    return exact_match(float(result) if is_answer else result, rules, strict_upstream=strict_upstream)
