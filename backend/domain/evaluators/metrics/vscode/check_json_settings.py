"""`check_json_settings`: VS Code's settings have certain values."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.json_values import compare
from backend.domain.formats.jsonc import parse_broken_jsonc, parse_jsonc
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_json_settings")
def check_json_settings(result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False) -> MetricValue:
    """1 if every expected setting has its value; other settings are allowed.

    Args:
        result: path of the settings file.
        rules: `expected`: setting -> value.
        strict_upstream: reject comments and trailing commas, which VS Code accepts; `true` equals 1.
    """
    expected = rules.get("expected")
    if not isinstance(expected, Mapping):
        raise EvaluatorFailed("`rules.expected` is not an object of settings", code="invalid_rule")
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    settings, reason = parse_jsonc(text, plain=True) if strict_upstream else parse_broken_jsonc(text)
    if not isinstance(settings, dict):
        return verdict(met=False, reason=reason or f"the settings are not an object: {short(settings)}")
    wrong = [
        f"{key} is {short(settings[key]) if key in settings else 'not set'}, expected {short(value)}"
        for key, value in expected.items()
        if key not in settings or compare("ne", settings[key], value, by_type=not strict_upstream)
    ]
    return verdict(not wrong, "; ".join(wrong)[:2000] or "all settings are as expected")
