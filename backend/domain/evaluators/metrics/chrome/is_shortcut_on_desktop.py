"""`is_shortcut_on_desktop`: a certain shortcut is on the desktop."""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from backend.domain.evaluators.metrics._browser_pages import kind_of
from backend.domain.evaluators.metrics._rules import rule as rule_of
from backend.domain.evaluators.metrics._rules import texts
from backend.domain.evaluators.metrics.chrome._shortcuts import among, entries
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_shortcut_on_desktop")
def is_shortcut_on_desktop(shortcuts: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """1 if a shortcut's `Name` (in any case) or `Exec` contains the expected text.

    Args:
        shortcuts: file name to the text of the `.desktop` file.
        rule: `{"type": "name", "name"}` or `{"type": "exec", "exec"}`.
        strict_upstream: also if the expected text contains it, as it contains an empty name, and by any line of the
            file, also that of a further action.
    """
    kind = kind_of(rule, "name", "exec")
    (expected,) = texts([rule_of(rule, kind)], f"`{kind}`")
    fold = str.lower if kind == "name" else str

    def fits(actual: str, expected: str) -> bool:
        actual_command, expected_command = fold(actual), fold(expected)
        return expected_command in actual_command or (strict_upstream and actual_command in expected_command)

    return among(shortcuts, expected, partial(entries, key=kind.capitalize(), strict=strict_upstream), fits)


@register(PluginKind.METRIC, "is_shortcut_on_desktop", dialect="waa")
def is_shortcut_on_desktop_waa(shortcuts: Any, rule: Any, *, strict_upstream: bool = False) -> MetricValue:
    """`is_shortcut_on_desktop` of WindowsAgentArena: Windows shortcuts are matched by description.

    1 if a `.desktop` file has that `Name`, or a `.lnk` file's description contains the expected text.

    Args:
        shortcuts: file name to the file's text; for a `.lnk` file, its fields as JSON.
        rule: `{"type": "name", "name"}` or `{"type": "description", "description"}`.
        strict_upstream: any line of a `.desktop` file counts, also that of a further action.
    """
    kind = kind_of(rule, "name", "description")
    (expected,) = texts([rule_of(rule, kind)], f"`{kind}`")
    if kind == "name":
        return among(shortcuts, expected, partial(entries, key="Name", strict=strict_upstream), str.__eq__)
    return among(shortcuts, expected, _description, lambda actual, expected: expected in actual)


def _description(text: str) -> Iterator[str]:
    try:
        data = json.loads(text).get("data")
    except (ValueError, AttributeError, RecursionError):
        return
    description = data.get("description") if isinstance(data, dict) else None
    if isinstance(description, str):
        yield description
