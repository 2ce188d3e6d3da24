"""`fuzzy_match`: similarity of two texts."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_CELLS = 4 * 10**9  # product of the lengths: about two seconds


@register(PluginKind.METRIC, "fuzzy_match")
def fuzzy_match(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """The similarity, rapidfuzz's `ratio` / 100: 1 - (insertions and deletions) / (sum of lengths)."""
    from rapidfuzz import fuzz

    expected = rule(rules, "expected")
    if not isinstance(expected, str):
        raise EvaluatorFailed(f"`expected` is {short(expected)}, expected a text", code="invalid_rule", hint=HINT)
    if not isinstance(result, str):
        return verdict(met=False, reason=f"expected text, got {short(result)}")
    if len(result) * len(expected) > MAX_CELLS:
        return verdict(result == expected, f"a text of {len(result)} letters is too long for a comparison by letters")
    ratio = fuzz.ratio(result, expected) / 100
    return MetricValue(value=ratio, reasons=(f"{ratio:.3f} alike: expected {short(expected)}, found {short(result)}",))
