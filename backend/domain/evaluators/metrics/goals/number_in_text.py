"""`number_in_text` (ours): a text has one number, the correct one."""

import math
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text_numbers import numbers_in
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "number_in_text")
def number_in_text(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the text has exactly one number (`1,234.5` is one) and it is `expected`, within `tolerance` (1e-9).

    Args:
        result: the text; see `text_numbers` for the forms of numbers.
        rules: `expected`, `tolerance`.
    """
    if result is None:
        return verdict(met=False, reason="there is no text")
    numbers = list(numbers_in(result))
    if len(numbers) != 1:
        return verdict(met=False, reason=f"expected one number, found {len(numbers)} in {short(result)}")
    if numbers[0] is None:
        return verdict(met=False, reason=f"the number in {short(result)} is ambiguous")
    expected, tolerance = float(rules["expected"]), float(rules.get("tolerance", 1e-9))
    right = math.isclose(numbers[0], expected, rel_tol=0.0, abs_tol=tolerance)
    return verdict(right, f"expected {expected:g}, found {numbers[0]:g}")
