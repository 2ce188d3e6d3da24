"""Compares an object with the expected one, in the forms that tasks use."""

import ast
import json
from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import Goal, share_of_goals, short, verdict
from backend.domain.formats.json_values import among, equal, same_items
from backend.domain.model.score import MetricValue

UNKNOWN = "__EVALUATION_FAILED__"
"""Results of upstream's getters for an unavailable expectation."""
ANY_ORDER = "ignore_list_order"
MAX_TEXT = 2**20


def compare_objects(
    result: Any, rules: Mapping[str, Any], *, strict: bool, strict_lists_only: bool = False
) -> MetricValue:
    """1 if every key of `rules["expected"]` has its value in the result.

    Args:
        result: an object, or its JSON (Python's quotes are accepted).
        rules: `expected`; `expect_in_result`: a text must be part of the actual one, a list must contain the actual
            value or share an element with the actual list; `ignore_list_order`, beside or inside `expected`.
        strict: judge as published.
        strict_lists_only: as published by WindowsAgentArena: a list never matches a text.
    """
    expected = rule(rules, "expected")
    if not isinstance(expected, Mapping):
        raise EvaluatorFailed(f"`expected` is {short(expected)}, expected an object", code="invalid_rule", hint=HINT)
    if UNKNOWN in [value for value in expected.values() if isinstance(value, str)]:
        if strict:
            return verdict(met=False, reason="the expectation could not be read")
        raise EvaluatorFailed("the expectation could not be read", code="invalid_reference")
    actual, reason = _object(result, strict=strict)
    if actual is None:
        return verdict(met=False, reason=reason)
    if rules.get("expect_in_result"):
        goals = [_within(key, value, actual.get(key), strict, strict_lists_only) for key, value in expected.items()]
    elif strict:
        # As published, the flag is compared like a key, which raises an error and so gives 0.
        goals = [_published_goal(key, value, actual.get(key)) for key, value in expected.items()]
        goals = [(fine and not expected.get(ANY_ORDER), words) for fine, words in goals]
    else:
        any_order = bool(rules.get(ANY_ORDER) or expected.get(ANY_ORDER))
        expected_keys = [key for key in expected if key != ANY_ORDER]
        goals = [_equal(key, expected[key], actual.get(key), any_order=any_order) for key in expected_keys]
    return share_of_goals(goals, partial=False)


def _object(result: Any, *, strict: bool) -> tuple[Mapping[str, Any] | None, str]:
    value = _parse(result.strip(), strict=strict) if isinstance(result, str) else result
    return (value, "") if isinstance(value, Mapping) else (None, f"expected an object, found {short(result)}")


def _parse(text: str, *, strict: bool) -> Any:
    if len(text) > MAX_TEXT:
        return None
    swapped = (json.loads, text.replace("'", '"'))
    for read, form in (swapped,) if strict else ((json.loads, text), (ast.literal_eval, text), swapped):
        try:
            return read(form)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def _equal(key: str, expected: Any, actual: Any, *, any_order: bool) -> Goal:
    fine = equal(expected, actual)
    if any_order and isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        fine = same_items(expected, actual)
    return fine, f"{key} is {short(actual)}, expected {short(expected)}"


def _published_goal(key: str, expected: Any, actual: Any) -> Goal:
    return expected == actual, f"{key} is {short(actual)}, expected {short(expected)}"


def _within(key: str, expected: Any, actual: Any, strict: bool, lists_only: bool) -> Goal:  # noqa: FBT001 - private
    if isinstance(expected, list | tuple):
        fine = _one_of(expected, actual, strict=strict, lists_only=lists_only)
    elif isinstance(expected, str):
        fine = isinstance(actual, str | list | tuple | Mapping) and expected in actual
    else:
        fine = not strict and equal(expected, actual)
    return fine, f"{key} is {short(actual)}, expected to contain {short(expected)}"


def _one_of(expected: Any, actual: Any, *, strict: bool, lists_only: bool) -> bool:
    if isinstance(actual, list | tuple):
        return any(value in actual if strict else among(value, actual) for value in expected)
    if strict:
        return not lists_only and isinstance(actual, str) and actual in expected
    return actual is not None and among(actual, expected)
