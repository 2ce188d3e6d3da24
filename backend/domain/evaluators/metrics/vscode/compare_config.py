"""`compare_config`: a settings file has the expected content."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import compare
from backend.domain.formats.jsonc import parse_jsonc
from backend.domain.formats.text import line_feeds, read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "compare_config")
def compare_config(
    result: str | None, rules: Mapping[str, Any], *, containment_ok: bool = True, strict_upstream: bool = False
) -> MetricValue:
    """1 if the file contains the expected text or, if both are JSON, its objects have the expected entries.

    Args:
        result: path of the file.
        rules: `expected`: text, of JSON or not.
        containment_ok: the file may contain more; False: texts, or JSON values, must be equal.
        strict_upstream: JSON with comments or trailing commas counts as text, and `true` equals 1.
    """
    expected = rules.get("expected")
    if not isinstance(expected, str) or not expected:
        raise EvaluatorFailed("`rules.expected` is not text", code="invalid_rule")
    expected = expected if strict_upstream else line_feeds(expected)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    value, no_json = parse_jsonc(text, plain=strict_upstream)
    expected_value, none_wanted = parse_jsonc(expected, plain=strict_upstream)
    words = f"the file has {short(text)}, expected {short(expected)}"
    if no_json or none_wanted:
        return verdict(expected.strip() in text if containment_ok else text == expected, words)
    if containment_ok:
        return verdict(_has(value, expected_value, by_type=not strict_upstream), words)
    return verdict(compare("eq", value, expected_value, by_type=not strict_upstream), words)


def _has(actual: Any, expected: Any, *, by_type: bool) -> bool:
    """Objects may have more entries than wanted; all else is equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(key in actual and _has(actual[key], value, by_type=by_type) for key, value in expected.items())
    return compare("eq", actual, expected, by_type=by_type)


@register(PluginKind.METRIC, "compare_config", dialect="waa")
def compare_config_waa(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """`compare_config` of WindowsAgentArena: a settings file has exactly the expected content.

    1 if the file's text equals `rules.expected`.
    """
    expected = rules.get("expected")
    if not isinstance(expected, str):
        raise EvaluatorFailed("`rules.expected` is not text", code="invalid_rule")
    expected = line_feeds(expected)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    return verdict(text == expected, f"the file has {short(text)}, expected {short(expected)}")
