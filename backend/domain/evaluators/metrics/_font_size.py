"""Shared implementation of Chrome's and Edge's font size metrics."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue


def font_size(result: Any, rules: Any, *, with_least: bool) -> MetricValue:
    """1 if the size is the rule's `value`, or between `min` and `max`.

    Args:
        result: an object with `default_font_size`; None = no profile.
        rules: `{"type": "value", "value"}` or `{"type": "range", "min", "max"}`.
        with_least: whether `min` is included in the range; `max` never is.
    """
    kind = rule(rules, "type")
    if kind == "value":
        expected = rule(rules, "value")
    elif kind == "range":
        least, most = rule(rules, "min"), rule(rules, "max")
    else:
        raise EvaluatorFailed(
            f"the rule's type is {short(kind)}, expected value or range", code="invalid_rule", hint=HINT
        )
    size = result.get("default_font_size") if isinstance(result, Mapping) else None
    if not isinstance(size, int | float) or isinstance(size, bool):
        return verdict(met=False, reason=f"the font size is {short(size)}")
    if kind == "value":
        return verdict(size == expected, f"the font size is {size}, expected {short(expected)}")
    met = (least <= size if with_least else least < size) and size < most
    return verdict(met, f"the font size is {size}, expected {'from' if with_least else 'above'} {least}, below {most}")
