"""Compares one setting of VLC with a rule."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.vlc_config import last_line_with, read_settings
from backend.domain.model.score import MetricValue


def expected_text(rules: Mapping[str, Any], key: str) -> str:
    """The expected value of a setting, as written in the file.

    Raises:
        EvaluatorFailed: the rule is neither a number nor a text.
    """
    value = rule(rules, key)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise EvaluatorFailed(f"{key!r} is {short(value)}, expected a number or a text", code="invalid_rule", hint=HINT)
    return str(value)


def value_of(path: str | None, key: str, default: str, *, strict: bool) -> tuple[str | None, str]:
    """The setting's value, VLC's `default` if it is not set, or the reason why there is none.

    Args:
        path: of `vlcrc`.
        key: name of the setting.
        default: VLC's default.
        strict: as published, a commented line counts like any other.
    """
    if strict:
        value, reason = last_line_with(path, f"{key}=")
        return (None, reason) if reason else (default if value is None else value, "")
    settings, reason = read_settings(path)
    return (None, reason) if settings is None else (settings.get(key, default), "")


def compare_setting(
    path: str | None, expected: tuple[Mapping[str, Any], str], key: str, default: str, *, strict: bool
) -> MetricValue:
    """1 if the setting `key` has the value of `expected`: the rules, and the name of the one with the value."""
    text = expected_text(*expected)
    value, reason = value_of(path, key, default, strict=strict)
    return verdict(value == text, reason or f"{key} is {short(value)}, expected {short(text)}")
