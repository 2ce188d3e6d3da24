"""`is_url_shortcut_on_desktop`: a shortcut to a web page is on the desktop."""

from typing import Any

from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.url_match import same
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_SECTION = "[internetshortcut]"


@register(PluginKind.METRIC, "is_url_shortcut_on_desktop")
def is_url_shortcut_on_desktop(shortcuts: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """1 if some shortcut opens the address.

    Args:
        shortcuts: file name to text.
        rule: `{"type": "url", "url_content": address}`.
        strict_upstream: the address may be anywhere in a shortcut's text.
    """
    kind_of(rule, "url")
    (address,) = texts([rule_of(rule, "url_content")], "`url_content`")
    opens = _mentions if strict_upstream else _opens
    matches = sorted(name for name, text in (shortcuts or {}).items() if opens(text, address))
    names = short(sorted(shortcuts or {}), 300)
    return verdict(
        matches, f"{short(matches)} points to {address}" if matches else f"none of {names} points to {address}"
    )


def _mentions(text: str, address: str) -> bool:
    return address in text


def _opens(text: str, address: str) -> bool:
    """Whether the entry `URL=` is the address: in its section `InternetShortcut`, or in a file without sections."""
    section = _SECTION
    for line in text.splitlines():
        key, _, target = line.partition("=")
        section = line.strip().lower() if line.lstrip().startswith("[") else section
        if section == _SECTION and key.strip().lower() == "url":
            return same(target.strip(), address)
    return False
