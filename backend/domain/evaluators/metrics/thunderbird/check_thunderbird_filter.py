"""`check_thunderbird_filter`: whether Thunderbird has certain message filters."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, mappings
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.evaluators.metrics.thunderbird._filters import MailFilter, read_condition, read_filters
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

KEYS = ("name", "enabled", "type", "action", "actionValue", "condition")
HARMLESS = frozenset({
    "AddTag", "Change priority", "Copy to folder", "Fetch body from Pop3Server", "Label", "Mark flagged", "Mark read",
    "Mark unread", "Stop execution", "Watch thread",
})  # fmt: skip
"""Actions that leave the message where another action of the same filter puts it."""
_LINE = re.compile(rf'(?P<key>{"|".join(KEYS)})="(?P<value>.*)"')
_PUBLISHED = re.compile(r"\b(?:AND|OR) \([\w ]+,[\w ']+,(?:\".+\"|[^)]+)\)|\bALL\b")
"""As published: a quoted value extends to the last quote of the line, across conditions."""


@register(PluginKind.METRIC, "check_thunderbird_filter")
def check_thunderbird_filter(result: str | None, rules: object, *, strict_upstream: bool = False) -> MetricValue:
    """1 if every filter of `expect` exists, and none matches one of `unexpect`.

    A filter of `expect` has the action, no condition more or less, and besides only actions that leave the message
    where it is.

    Args:
        result: path of `msgFilterRules.dat`.
        rules: `{expect: [filter], unexpect: [filter]}`; a filter may specify `name`, `enabled`, `type`, `action`,
            `actionValue`, `condition` (a list: `AND (subject,contains,discount)`), all optional.
        strict_upstream: as published: the last action alone counts, conditions are parted by a regular expression that
            passes over what it does not know, and their order counts.
    """
    if not isinstance(rules, Mapping):
        raise EvaluatorFailed(f"the rules must be an object, got {short(rules)}", code="invalid_rule", hint=HINT)
    expect, unexpect = mappings(rules.get("expect"), "`expect`"), mappings(rules.get("unexpect"), "`unexpect`")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules name no filters", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    filters: list[Any] = _published_filters(text) if strict_upstream else read_filters(text)
    fits = _is_published if strict_upstream else _is
    wrong = [
        f"no filter is {short(dict(rule))}"
        for rule in expect
        if not any(fits(rule, mail_filter, True) for mail_filter in filters)
    ]
    wrong += [
        f"a filter is {short(dict(rule))}"
        for rule in unexpect
        if any(fits(rule, mail_filter, False) for mail_filter in filters)
    ]
    if not wrong:
        return verdict(met=True, reason=f"the {len(filters)} filters are as expected")
    present = [f"there is {short(mail_filter)}" for mail_filter in filters[:5]] or ["there are no filters"]
    return MetricValue(value=0.0, reasons=(*wrong[:10], *present))


def _is(rule: Mapping[str, Any], mail_filter: MailFilter, whole: bool) -> bool:  # noqa: FBT001 - a private helper's last word.
    """Whether a filter is as a rule says; `whole`: and does nothing else to a message."""
    if any(mail_filter.values.get(key) != rule[key] for key in rule.keys() - {"action", "actionValue", "condition"}):
        return False
    if "condition" in rule and mail_filter.condition != read_condition(_texts(rule["condition"])):
        return False
    if not rule.keys() & {"action", "actionValue"}:
        return not (whole and mail_filter.unknown)
    matching = [action for action in mail_filter.actions if _does(rule, *action)]
    other_actions = [
        name for name, value in mail_filter.actions if not _does(rule, name, value) and name not in HARMLESS
    ]
    return bool(matching) and not (whole and (other_actions or mail_filter.unknown))


def _does(rule: Mapping[str, Any], name: str, value: str | None) -> bool:
    return bool(rule.get("action", name) == name and rule.get("actionValue", value) == value)


def _texts(condition: object) -> list[str]:
    texts = [condition] if isinstance(condition, str) else condition
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise EvaluatorFailed(
            f"`condition` is {short(condition)}, expected a list of texts", code="invalid_rule", hint=HINT
        )
    return list(texts)


def _published_filters(text: str) -> list[dict[str, Any]]:
    """Each filter begins with its name and ends with its condition."""
    filters: list[dict[str, Any]] = []
    current: dict[str, Any] | None = None
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        key, value = match["key"], match["value"].replace('\\"', '"').replace("\\\\", "\\")
        if key == "name":
            current = {}
        if current is not None:
            current[key] = _PUBLISHED.findall(value) if key == "condition" else value
            if key == "condition":
                filters.append(dict(current))
    return filters


def _is_published(rule: Mapping[str, Any], published: Mapping[str, Any], _whole: bool) -> bool:  # noqa: FBT001 - as `_is`.
    return all(key in published and published[key] == value for key, value in rule.items())
