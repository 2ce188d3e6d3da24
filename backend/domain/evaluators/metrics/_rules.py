"""Reads the rules of a metric. A malformed rule is an error of the task, never a score of zero."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short

HINT = "Look at the task's `expected.rules`."


def rule(rules: Any, key: str) -> Any:
    """`rules[key]`. Raises EvaluatorFailed if it is missing."""
    if not isinstance(rules, Mapping):
        raise EvaluatorFailed(f"the rules must be an object, got {short(rules)}", code="invalid_rule", hint=HINT)
    if key not in rules:
        raise EvaluatorFailed(f"the rules have no {key!r}", code="invalid_rule", hint=HINT)
    return rules[key]


def texts(value: Any, name: str) -> list[str]:
    """A list of texts; None counts as an empty one.

    Raises:
        EvaluatorFailed: it is not a list of texts. A single text is rejected as well: its letters would be compared one
            by one.
    """
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise EvaluatorFailed(f"{name} is {short(value)}, expected a list of texts", code="invalid_rule", hint=HINT)
    return list(value)


def mappings(value: Any, name: str) -> list[Mapping[str, Any]]:
    """A list of objects; None counts as an empty one. Raises EvaluatorFailed if it is anything else."""
    if value is None:
        return []
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise EvaluatorFailed(f"{name} is {short(value)}, expected a list of objects", code="invalid_rule", hint=HINT)
    return list(value)
