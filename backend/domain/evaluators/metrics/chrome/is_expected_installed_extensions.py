"""`is_expected_installed_extensions`: the browser has certain extensions."""

from typing import Any

from backend.domain.evaluators.metrics._rules import rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import Kind, register

_RENAMED = {"Zoom for Google Chrome": "Zoom Chrome Extension"}
"""Extensions whose name in the store has changed since the tasks were written."""


@register(Kind.METRIC, "is_expected_installed_extensions")
def is_expected_installed_extensions(installed_extensions: Any, expected: Any) -> MetricValue:
    """1 if every expected name is among the installed; others may be there, too.

    Args:
        installed_extensions: a list of names; None = no profile.
        expected: `{"expected": [name, ...]}`.
    """
    wanted = {_name(name) for name in texts(rule(expected, "expected"), "`expected`")}
    found = {_name(name) for name in installed_extensions or () if isinstance(name, str)}
    if not found:
        return verdict(met=False, reason="no extension is installed")
    missing = sorted(wanted - found)
    return verdict(not missing, f"installed are {short(sorted(found), 400)}, missing {short(missing, 400)}")


def _name(name: str) -> str:
    return _RENAMED.get(name, name)
