"""`json_fields` (ours): fields of a JSON file have the expected values."""

import json
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, reached, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_ABSENT = object()


@register(PluginKind.METRIC, "json_fields")
def json_fields(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about a JSON file.

    Args:
        result: its path.
        rules: `expected`: dotted path -> value (a list of values: one of them); `partial`: the share of fields counts.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return verdict(met=False, reason="the file is no JSON")
    goals = [_field(data, path, expected) for path, expected in rules.get("expected", {}).items()]
    return reached(goals, partial=bool(rules.get("partial")))


def _field(data: Any, path: str, expected: Any) -> Goal:
    value = data
    for part in path.split("."):
        value = value.get(part, _ABSENT) if isinstance(value, dict) else _ABSENT
    choices = expected if isinstance(expected, list) else [expected]
    actual = "missing" if value is _ABSENT else short(value)
    return value in choices, f"{path} is {actual}, wanted {short(expected)}"
