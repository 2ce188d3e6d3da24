"""`match_in_list`: the value is one of the rule's list."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import among
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "match_in_list")
def match_in_list(result: Any, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if `result` is in `rules["expected"]`.

    Args:
        result: the value to judge.
        rules: `expected`, a list.
        strict_upstream: `true` equals 1.
    """
    expected = rule(rules, "expected")
    if not isinstance(expected, list | tuple) or not expected:
        raise EvaluatorFailed(
            f"`expected` is {short(expected)}, expected a list of values", code="invalid_rule", hint=HINT
        )
    met = result in expected if strict_upstream else among(result, expected)
    return verdict(met, f"expected one of {short(expected)}, found {short(result)}")
