"""`json_fields` (ours): fields of a JSON file have the expected values."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.json_values import among
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "json_fields")
def json_fields(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about a JSON file.

    Args:
        result: its path.
        rules: `expected`: dotted path -> value (a list of values: one of them); `partial`: the share of fields counts.
            A key may have dots itself: `editor.fontSize` is that key and `fontSize` in `editor`. Where a file has
            several of these, each must have the value.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return verdict(met=False, reason="the file is not JSON")
    goals = [_field(data, path, expected) for path, expected in rules.get("expected", {}).items()]
    return share_of_goals(goals, partial=bool(rules.get("partial")))


def _field(data: Any, path: str, expected: Any) -> Goal:
    values = list(_values(data, path.split(".")))
    choices = expected if isinstance(expected, list) else [expected]
    actual = " and ".join(map(short, values)) or "missing"
    met = bool(values) and all(among(value, choices) for value in values)
    return met, f"{path} is {actual}, expected {short(expected)}"


def _values(data: Any, parts: Sequence[str]) -> Iterator[Any]:
    """The values at the path, for every way to join its parts to keys."""
    if not parts:
        yield data
    elif isinstance(data, dict):
        for number in range(1, len(parts) + 1):
            key = ".".join(parts[:number])
            if key in data:
                yield from _values(data[key], parts[number:])
