"""`compare_answer`: an answer equals the expected one."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_answer")
def compare_answer(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the text equals `rules.expected`; an empty answer is wrong."""
    if "expected" not in rules:
        raise EvaluatorFailed("`rules.expected` is missing", code="invalid_rule")
    met = bool(result) and result == rules["expected"]
    return verdict(met, f"the answer is {short(result)}, expected {short(rules['expected'])}")
