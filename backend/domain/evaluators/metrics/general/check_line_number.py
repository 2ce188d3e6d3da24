"""`check_line_number`: the number of lines with a time of day."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_TIME = re.compile(r"(?<![0-9])(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?![0-9])")


@register(PluginKind.METRIC, "check_line_number")
def check_line_number(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if exactly `rules["expected"]` lines have a time `HH:MM:SS` in them; second 60 is a leap second."""
    expected = rule(rules, "expected")
    try:
        expected_count = int(expected)
    except (TypeError, ValueError) as error:
        raise EvaluatorFailed(
            f"`expected` is {short(expected)}, expected a number of lines", code="invalid_rule", hint=HINT
        ) from error
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    count = sum(_TIME.search(line) is not None for line in text.split("\n"))
    return verdict(count == expected_count, f"{count} lines have a time of day, expected {expected_count}")
