"""`text_goals` (ours): lines of a text file."""

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.text import read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "text_goals")
def text_goals(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Goals about single lines; blanks at the ends of a line are ignored.

    Args:
        result: path of the text file.
        rules: `lines`: regular expressions, each a goal that is met if a whole line matches; `without`: regular
            expressions, each a goal that is met if no line matches; `keeps`: regular expressions of lines that must
            still be there; `partial`: the value is the share of met goals.
    """
    text, reason = read_text(result)
    if text is None:
        return verdict(met=False, reason=reason)
    lines = [line.strip() for line in text.split("\n")]

    def some(pattern: str) -> bool:
        return any(re.fullmatch(pattern, line) for line in lines)

    goals = [(some(pattern), f"a line {short(pattern)}") for pattern in rules.get("lines", ())]
    goals += [(not some(pattern), f"no line {short(pattern)}") for pattern in rules.get("without", ())]
    keeps = [(some(pattern), f"a line {short(pattern)} is gone") for pattern in rules.get("keeps", ())]
    return share_of_goals(goals, partial=bool(rules.get("partial")), keeps=keeps)
