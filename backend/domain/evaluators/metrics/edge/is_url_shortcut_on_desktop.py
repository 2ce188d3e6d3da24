"""`is_url_shortcut_on_desktop`: a shortcut to a web page is on the desktop."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_url_shortcut_on_desktop")
def is_url_shortcut_on_desktop(shortcuts: Any, rule: Any) -> MetricValue:
    """1 if some shortcut's text contains the address.

    Args:
        shortcuts: file name to text.
        rule: `{"type": "url", "url_content": address}`.
    """
    kind_of(rule, "url")
    (address,) = texts([rule_of(rule, "url_content")], "`url_content`")
    matches = sorted(name for name, text in (shortcuts or {}).items() if address in text)
    names = short(sorted(shortcuts or {}), 300)
    return verdict(
        matches, f"{short(matches)} points to {address}" if matches else f"none of {names} points to {address}"
    )
