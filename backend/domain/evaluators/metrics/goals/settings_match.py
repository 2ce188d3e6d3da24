"""`settings_match` (ours): settings printed as `key=value` lines have the expected values."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.json_values import number_of
from backend.domain.formats.setting_values import plain_value
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "settings_match")
def settings_match(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about settings.

    Args:
        result: lines `key=value`, as printed by a command; the last value of a repeated key counts.
        rules: `expected` and `keeps`: key -> value, a list of alternatives, or `{min, max}`. Text must be equal,
            numbers equal in value, true and false may have any case; `partial`: the share of settings counts.
    """
    if result is None:
        return verdict(met=False, reason="the settings could not be read")
    settings = dict(line.split("=", 1) for line in result.splitlines() if "=" in line)
    settings = {key.strip(): value.strip() for key, value in settings.items()}
    goals = [_setting(key, settings.get(key), expected) for key, expected in rules.get("expected", {}).items()]
    keeps = [_setting(key, settings.get(key), expected) for key, expected in rules.get("keeps", {}).items()]
    return share_of_goals(goals, partial=bool(rules.get("partial")), keeps=keeps)


def _setting(key: str, actual: str | None, expected: Any) -> Goal:
    reason = f"{key} is {'not set' if actual is None else short(actual)}, expected {short(expected)}"
    if isinstance(expected, Mapping):
        low, high = float(expected.get("min", "-inf")), float(expected.get("max", "inf"))
        number = _number(actual)
        return number is not None and low <= number <= high, reason
    values = expected if isinstance(expected, list | tuple) else [expected]
    return actual is not None and any(_fits(actual, value) for value in values), reason


def _fits(actual: str, expected: Any) -> bool:
    if isinstance(expected, bool):
        return plain_value(actual).lower() == str(expected).lower()
    if isinstance(expected, int | float):
        return _number(actual) == expected
    return actual == str(expected)


def _number(text: str | None) -> float | None:
    try:
        return number_of(plain_value(text or ""))
    except ValueError:
        return None
