"""`widget_value` (ours): the content of a widget on the screen."""

import math
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.accessibility import Widget, widgets
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "widget_value")
def widget_value(result: str, rules: Mapping[str, Any]) -> MetricValue:
    """1 if a visible widget of that application has the expected content.

    Args:
        result: the accessibility tree.
        rules: `app` and `role` of the widget; `text`, the first line of its content without blanks in any
            case, or `number` with `tolerance` (default 1e-9).
    """
    try:
        matches = [one for one in widgets(result) if one.app == rules["app"] and one.role == rules["role"]]
    except Invalid as error:
        raise EvaluatorFailed(error.message, code="invalid_rule") from error
    shown = [one for one in matches if "showing" in one.states]
    if not shown:
        return verdict(met=False, reason=f"no {rules['role']} of {rules['app']} is on the screen")
    texts = [_content(one) for one in shown]
    return verdict(any(_right(text, rules) for text in texts), f"it has {short(texts)}, expected {short(dict(rules))}")


def _content(widget: Widget) -> str:
    lines = (widget.text or widget.name).strip().splitlines() or [""]
    return "".join(lines[0].split())


def _right(text: str, rules: Mapping[str, Any]) -> bool:
    if "text" in rules:
        return text.lower() == "".join(str(rules["text"]).split()).lower()
    try:
        number = float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return False
    return math.isclose(number, float(rules["number"]), rel_tol=0.0, abs_tol=float(rules.get("tolerance", 1e-9)))
