"""`check_window_exists`: there is a window with this title."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import plain
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_window_exists", dialect=DIALECT)
def check_window_exists(result: Mapping[str, Any]) -> MetricValue:
    """1 if the text is a part of a window's title, ignoring case."""
    title = plain(result["text"])
    met = any(title in plain(str(shown_title)) for shown_title in result["titles"])
    return verdict(
        met, f"{'a' if met else 'no'} window has {short(result['text'])} in its title: {short(result['titles'])}"
    )
