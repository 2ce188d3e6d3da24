"""`check_font_size`: the browser's font size is as expected."""

from typing import Any

from backend.domain.evaluators.metrics._font_size import font_size as judged
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_font_size")
def check_font_size(font_size: Any, rule: Any) -> MetricValue:
    """1 if `default_font_size` is the rule's `value`, or above `min` and below `max`.

    Args:
        font_size: an object with `default_font_size`; None = no profile.
        rule: `{"type": "value", "value"}` or `{"type": "range", "min", "max"}`.
    """
    return judged(font_size, rule, with_least=False)
