"""`is_expected_installed_extensions`: the browser has certain extensions."""

from typing import Any

from backend.domain.evaluators.metrics._rules import rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_RENAMED = {"Zoom for Google Chrome": "Zoom Chrome Extension"}
"""Extensions whose name in the store has changed since the tasks were written."""


@register(PluginKind.METRIC, "is_expected_installed_extensions")
def is_expected_installed_extensions(installed_extensions: Any, expected: Any) -> MetricValue:
    """1 if every expected name is among the installed ones; others are allowed.

    Args:
        installed_extensions: a list of names; None = no profile.
        expected: `{"expected": [name, ...]}`.
    """
    expected_names = {_name(name) for name in texts(rule(expected, "expected"), "`expected`")}
    names = {_name(name) for name in installed_extensions or () if isinstance(name, str)}
    if not names:
        return verdict(met=False, reason="no extension is installed")
    missing = sorted(expected_names - names)
    return verdict(not missing, f"installed are {short(sorted(names), 400)}, missing {short(missing, 400)}")


def _name(name: str) -> str:
    return _RENAMED.get(name, name)
