"""`widget_value` (ours): the content of a widget on the screen."""

import math
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.accessibility import Widget, widgets
from backend.domain.formats.text_numbers import numbers_in
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "widget_value")
def widget_value(result: str, rules: Mapping[str, Any]) -> MetricValue:
    """1 if a visible widget of that application has the expected content.

    Args:
        result: the accessibility tree.
        rules: `app` and `role` of the widget; `text`, the first line of its content without blanks in any
            case, or `number` with `tolerance` (default 1e-9), the only one in that line.
    """
    try:
        matches = [widget for widget in widgets(result) if widget.app == rules["app"] and widget.role == rules["role"]]
    except Invalid as error:
        raise EvaluatorFailed(error.message, code="invalid_rule") from error
    visible = [match for match in matches if "showing" in match.states]
    if not visible:
        return verdict(met=False, reason=f"no {rules['role']} of {rules['app']} is on the screen")
    texts = [_content(widget) for widget in visible]
    return verdict(
        any(_is_right(text, rules) for text in texts), f"it has {short(texts)}, expected {short(dict(rules))}"
    )


def _content(widget: Widget) -> str:
    lines = (widget.text or widget.name).strip().splitlines() or [""]
    return "".join(lines[0].split())


def _is_right(text: str, rules: Mapping[str, Any]) -> bool:
    if "text" in rules:
        return text.lower() == "".join(str(rules["text"]).split()).lower()
    numbers = list(numbers_in(text))
    if len(numbers) != 1 or numbers[0] is None:
        return False
    return math.isclose(numbers[0], float(rules["number"]), rel_tol=0.0, abs_tol=float(rules.get("tolerance", 1e-9)))
