"""`check_thunderbird_prefs`: whether Thunderbird's settings are as expected."""

import json
import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT
from backend.domain.evaluators.metrics._value_rules import fits
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PREF = re.compile(r'user_pref\("(?P<key>(?:[^"\\]|\\.)+)", (?P<value>.+)\);')
Rules = Mapping[str, Mapping[str, Any]]


@register(PluginKind.METRIC, "check_thunderbird_prefs")
def check_thunderbird_prefs(result: str | None, rules: object) -> MetricValue:
    """1 if every setting in `expect` is in `prefs.js` and satisfies its rule, and none in `unexpect` does.

    Args:
        result: path of `prefs.js`. It omits settings with their default values.
        rules: `{expect: {name: {method, ref}}, unexpect: {...}}`.
    """
    expect, unexpect = _part(rules, "expect"), _part(rules, "unexpect")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules name no settings", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    prefs = _prefs(text, {*expect, *unexpect})
    wrong = [f"{key} is {_pref_text(prefs, key)}, expected {short(dict(one))}" for key, one in expect.items()
             if key not in prefs or not fits(prefs[key][-1], one)]  # fmt: skip
    wrong += [f"{key} is {_pref_text(prefs, key)}, which is not allowed" for key, one in unexpect.items()
              if key not in expect and any(fits(value, one) for value in prefs.get(key, ()))]  # fmt: skip
    if wrong:
        return MetricValue(value=0.0, reasons=tuple(wrong[:20]))
    return verdict(met=True, reason=f"{len(expect)} settings are as expected, {len(unexpect)} not as excluded")


def _part(rules: object, name: str) -> Rules:
    part = rules.get(name, {}) if isinstance(rules, Mapping) else None
    if not isinstance(part, Mapping) or not all(isinstance(one, Mapping) for one in part.values()):
        raise EvaluatorFailed(
            f"`{name}` is {short(part)}, expected settings and their rules", code="invalid_rule", hint=HINT
        )
    for one in part.values():
        fits(None, one)
    return part


def _prefs(text: str, keys: set[str]) -> dict[str, list[Any]]:
    """The values of these settings in the file's order; the last one counts."""
    prefs: dict[str, list[Any]] = {}
    for line in text.split("\n"):
        match = _PREF.fullmatch(line.strip())
        if match and match["key"] in keys:
            try:
                prefs.setdefault(match["key"], []).append(json.loads(match["value"]))
            except (ValueError, RecursionError):
                continue  # Thunderbird itself skips such lines.
    return prefs


def _pref_text(prefs: Mapping[str, list[Any]], key: str) -> str:
    return short(prefs[key][-1]) if key in prefs else "not set"
