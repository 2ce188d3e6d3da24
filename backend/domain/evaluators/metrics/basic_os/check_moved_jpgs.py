"""`check_moved_jpgs`: whether a folder contains exactly these files."""

from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_moved_jpgs")
def check_moved_jpgs(result: Any, rules: object) -> MetricValue:
    """1 if the names in the folder are those of `rules["expected"]`, in any order.

    Args:
        result: the tree from the getter `list_directory`; None if the folder does not exist.
        rules: `{expected: [names]}`.
    """
    expected = texts(rule(rules, "expected"), "`expected`")
    if not expected:
        raise EvaluatorFailed("`expected` names no files", code="invalid_rule", hint=HINT)
    children = result.get("children") if isinstance(result, dict) else None
    if not isinstance(children, list) or not all(isinstance(child, dict) for child in children):
        return verdict(met=False, reason="the folder does not exist")
    names = [str(child.get("name")) for child in children]
    more, less = sorted(set(names) - set(expected)), sorted(set(expected) - set(names))
    fine = len(names) == len(expected) and not more and not less
    text = f"missing {short(less)}, not expected {short(more)}" if more or less else "its names"
    return verdict(met=fine, reason=f"the folder has {len(names)} files, expected {len(expected)}: {text}")
