"""`check_list`: lines of a text file match regular expressions."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, texts
from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_list")
def check_list(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if every pattern of `expect` matches some line and no pattern of `unexpect` matches any."""
    expect, unexpect = _patterns(rules, "expect"), _patterns(rules, "unexpect")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)  # with line ends, which a pattern may match
    goals = [_goal(pattern, lines, expected=True) for pattern in expect]
    goals += [_goal(pattern, lines, expected=False) for pattern in unexpect]
    return share_of_goals(goals, partial=False)


def _patterns(rules: Mapping[str, Any], key: str) -> list[re.Pattern[str]]:
    try:
        return [re.compile(pattern) for pattern in texts(rules.get(key), f"`{key}`")]
    except re.error as error:
        raise EvaluatorFailed(f"`{key}` has an invalid pattern: {error}", code="invalid_rule", hint=HINT) from error


def _goal(pattern: re.Pattern[str], lines: list[str], *, expected: bool) -> Goal:
    line = next((line for line in lines if pattern.search(line)), None)
    where = "in no line" if line is None else f"in the line {short(line)}"
    return (line is not None) is expected, f"{short(pattern.pattern)} {'' if expected else 'un'}expected, found {where}"
