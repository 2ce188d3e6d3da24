"""`compare_config` of WindowsAgentArena: a settings file has exactly the expected content."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_config", dialect="waa")
def compare_config_waa(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the file's text equals `rules.expected`."""
    expected = rules.get("expected")
    if not isinstance(expected, str):
        raise EvaluatorFailed("`rules.expected` is no text", code="invalid_rule")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    return verdict(text == expected, f"the file holds {short(text)}, expected {short(expected)}")
