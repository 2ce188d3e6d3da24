"""`check_setting_equals`: a setting has this value."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.setting_values import same
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_setting_equals", dialect=DIALECT)
def check_setting_equals(result: Mapping[str, Any]) -> MetricValue:
    """1 if it does: numbers by value, booleans ignoring case, anything else exactly."""
    actual, expected = result["found"], result["value"]
    met = actual is not None and same(actual, expected)
    return verdict(met, f"{result['name']} is {short(actual)}, expected: {short(expected)}")
