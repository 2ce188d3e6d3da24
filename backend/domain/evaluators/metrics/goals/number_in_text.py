"""`number_in_text` (ours): a text has one number, the correct one."""

import math
import re
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")


@register(PluginKind.METRIC, "number_in_text")
def number_in_text(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the text has exactly one number (`1,234.5` is one) and it is `expected`, within `tolerance` (1e-9)."""
    if result is None:
        return verdict(met=False, reason="there is no text")
    numbers = [float(number.replace(",", "")) for number in _NUMBER.findall(result[:100_000])]
    if len(numbers) != 1:
        return verdict(met=False, reason=f"expected one number, found {len(numbers)} in {short(result)}")
    expected, tolerance = float(rules["expected"]), float(rules.get("tolerance", 1e-9))
    right = math.isclose(numbers[0], expected, rel_tol=0.0, abs_tol=tolerance)
    return verdict(right, f"expected {expected:g}, found {numbers[0]:g}")
