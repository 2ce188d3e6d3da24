"""`check_clipboard_contains`: the clipboard contains this text."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.wording import plain
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_clipboard_contains", dialect=DIALECT)
def check_clipboard_contains(result: Mapping[str, Any]) -> MetricValue:
    """1 if it does, ignoring case and blanks."""
    met = plain(result["text"]) in plain(result["clipboard"])
    return verdict(
        met, f"{short(result['text'])} is {'' if met else 'not '}in the clipboard: {short(result['clipboard'])}"
    )
