"""`check_thunderbird_filter`: whether Thunderbird has certain message filters."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, mappings
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

KEYS = ("name", "enabled", "type", "action", "actionValue", "condition")
_LINE = re.compile(rf'(?P<key>{"|".join(KEYS)})="(?P<value>.*)"')
_TERM = r"\b(?:AND|OR) \([\w ]+,[\w ']+,(?:{quoted}|[^)]+)\)|\bALL\b"
CONDITIONS = re.compile(_TERM.format(quoted=r'"(?:[^"]|"(?!\)))+"'))
PUBLISHED = re.compile(_TERM.format(quoted=r'".+"'))
"""As published: a quoted value extends to the last quote of the line, across conditions."""
Filter = dict[str, Any]


@register(PluginKind.METRIC, "check_thunderbird_filter")
def check_thunderbird_filter(result: str | None, rules: object, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every filter of `expect` exists, and none matches one of `unexpect`.

    Args:
        result: path of `msgFilterRules.dat`.
        rules: `{expect: [filter], unexpect: [filter]}`; a filter may specify `name`, `enabled`, `type`, `action`,
            `actionValue`, `condition` (a list: `AND (subject,contains,discount)`), all optional. The last of several
            actions counts.
        strict_upstream: conditions are split as published.
    """
    if not isinstance(rules, Mapping):
        raise EvaluatorFailed(f"the rules are {short(rules)}, expected an object", code="invalid_rule", hint=HINT)
    expect, unexpect = mappings(rules.get("expect"), "`expect`"), mappings(rules.get("unexpect"), "`unexpect`")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules name no filters", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    filters = _filters(text, PUBLISHED if strict_upstream else CONDITIONS)
    wrong = [f"no filter is {short(dict(one))}" for one in expect if not _any(one, filters)]
    wrong += [f"a filter is {short(dict(one))}" for one in unexpect if _any(one, filters)]
    if not wrong:
        return verdict(met=True, reason=f"the {len(filters)} filters are as expected")
    shown = [f"there is {short(one)}" for one in filters[:5]] or ["there are no filters"]
    return MetricValue(value=0.0, reasons=(*wrong[:10], *shown))


def _filters(text: str, conditions: re.Pattern[str]) -> list[Filter]:
    """Each filter begins with its name and ends with its condition."""
    filters: list[Filter] = []
    current: Filter | None = None
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        key, value = match["key"], match["value"].replace('\\"', '"').replace("\\\\", "\\")
        if key == "name":
            current = {}
        if current is not None:
            current[key] = conditions.findall(value) if key == "condition" else value
            if key == "condition":
                filters.append(dict(current))
    return filters


def _any(expected: Mapping[str, Any], filters: list[Filter]) -> bool:
    return any(all(key in one and one[key] == value for key, value in expected.items()) for one in filters)
