"""`file_contains`: a text file contains some parts."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MOST_SHOWN = 20


@register(PluginKind.METRIC, "file_contains")
def file_contains(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if every text of `rules["expected"]` is in the file."""
    expected = texts(rule(rules, "expected"), "`expected`")
    if not expected:
        raise EvaluatorFailed("the metric has nothing to look for", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    missing = [short(part) for part in expected if part not in text][:MOST_SHOWN]
    return verdict(not missing, f"lacks {', '.join(missing)}" if missing else "has all that it should")
