"""`settings_match` (ours): settings printed as `key=value` lines have the wanted values."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, reached, short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import Kind, register


@register(Kind.METRIC, "settings_match")
def settings_match(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about settings.

    Args:
        result: lines `key=value`, as a command printed them; of a repeated key the last counts.
        rules: `expected` and `keeps`: key -> value, a list of values of which one is enough, or `{min, max}`;
            `partial`: the share of settings counts.
    """
    if result is None:
        return verdict(met=False, reason="the settings could not be read")
    found = dict(line.split("=", 1) for line in result.splitlines() if "=" in line)
    found = {key.strip(): value.strip() for key, value in found.items()}
    goals = [_setting(key, found.get(key), wanted) for key, wanted in rules.get("expected", {}).items()]
    kept = [_setting(key, found.get(key), wanted) for key, wanted in rules.get("keeps", {}).items()]
    return reached(goals, partial=bool(rules.get("partial")), keeps=kept)


def _setting(key: str, found: str | None, wanted: Any) -> Goal:
    words = f"{key} is {'not set' if found is None else short(found)}, wanted {short(wanted)}"
    if isinstance(wanted, Mapping):
        number = _number(found)
        low, high = float(wanted.get("min", "-inf")), float(wanted.get("max", "inf"))
        return number is not None and low <= number <= high, words
    values = wanted if isinstance(wanted, list | tuple) else [wanted]
    return found in {str(value) for value in values}, words


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
