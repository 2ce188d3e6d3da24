"""`check_thunderbird_prefs`: whether Thunderbird's settings are as expected."""

import json
import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT
from backend.domain.evaluators.metrics._value_rules import fits
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.mozilla_prefs import MAX_TEXT, read_prefs
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PREF = re.compile(r'user_pref\("(?P<key>(?:[^"\\]|\\.)+)", (?P<value>.+)\);')
Rules = Mapping[str, Mapping[str, Any]]


@register(PluginKind.METRIC, "check_thunderbird_prefs")
def check_thunderbird_prefs(result: str | None, rules: object, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every setting in `expect` is in `prefs.js` and satisfies its rule, and none in `unexpect` does.

    Args:
        result: path of `prefs.js`. It omits settings with their default values.
        rules: `{expect: {name: {method, ref}}, unexpect: {...}}`.
        strict_upstream: as published: one setting a line, in the form that Thunderbird writes, comments or not; every
            value of a repeated setting can be the excluded one; `true` equals 1.
    """
    expect, unexpect = _part(rules, "expect"), _part(rules, "unexpect")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules name no settings", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    if strict_upstream:
        prefs = _published_prefs(text, {*expect, *unexpect})
    else:
        settings = read_prefs(text)
        if settings is None:
            return verdict(met=False, reason=f"the file is longer than {MAX_TEXT // 2**20} MiB")
        prefs = {key: [value] for key, value in settings.items()}
    wrong = [f"{key} is {_pref_text(prefs, key)}, expected {short(dict(rule))}" for key, rule in expect.items()
             if key not in prefs or not fits(prefs[key][-1], rule, strict=strict_upstream)]  # fmt: skip
    wrong += [f"{key} is {_pref_text(prefs, key)}, which is not allowed" for key, rule in unexpect.items()
              if key not in expect
              and any(fits(value, rule, strict=strict_upstream) for value in prefs.get(key, ()))]  # fmt: skip
    if wrong:
        return MetricValue(value=0.0, reasons=tuple(wrong[:20]))
    return verdict(met=True, reason=f"{len(expect)} settings are as expected, {len(unexpect)} not as excluded")


def _part(rules: object, name: str) -> Rules:
    part = rules.get(name, {}) if isinstance(rules, Mapping) else None
    if not isinstance(part, Mapping) or not all(isinstance(rule, Mapping) for rule in part.values()):
        raise EvaluatorFailed(
            f"`{name}` is {short(part)}, expected settings and their rules", code="invalid_rule", hint=HINT
        )
    for rule in part.values():
        fits(None, rule)
    return part


def _published_prefs(text: str, keys: set[str]) -> dict[str, list[Any]]:
    """The values of these settings, in the file's order."""
    prefs: dict[str, list[Any]] = {}
    for line in text.split("\n"):
        match = _PREF.fullmatch(line.strip())
        if match and match["key"] in keys:
            try:
                value = json.loads(match["value"])
            except (ValueError, RecursionError):
                continue
            prefs.setdefault(match["key"], []).append(value)
    return prefs


def _pref_text(prefs: Mapping[str, list[Any]], key: str) -> str:
    return short(prefs[key][-1]) if key in prefs else "not set"
