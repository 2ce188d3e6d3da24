"""Evaluates rules `{"method": ..., "ref": ...}` on values. Methods: OSWorld's `_match_value_to_rule`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule
from backend.domain.evaluators.metrics._verdicts import short
from backend.domain.formats.json_values import COMPARISONS, compare, number_of

_BOUNDS = {"t": "lt", "e": "le"}


def fits(value: Any, condition: Mapping[str, Any], *, otherwise: bool = False, strict: bool = False) -> bool:
    """Whether the value satisfies the rule.

    Args:
        value: the actual value.
        condition: `method` is `re` (with flags `re.I.S`), `eq` and the other comparisons, `approx:TOLERANCE`,
            `range.XY` (each end `t`, without, or `e`, with), `str_list_eq` or `str_set_eq` (comma-separated text).
        otherwise: the result for a value of a type that cannot be compared.
        strict: as published, `true` equals 1; else values are compared by type.

    Raises:
        EvaluatorFailed: the method is unknown, or `ref` does not fit it.
    """
    method, ref = str(rule(condition, "method")), rule(condition, "ref")
    try:
        test = _test(method, ref, by_type=not strict)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, re.error) as error:
        raise EvaluatorFailed(
            f"method {short(method)} with `ref` {short(ref)} is not valid", code="invalid_rule", hint=HINT
        ) from error
    try:
        return bool(test(value))
    except (TypeError, ValueError, AttributeError, OverflowError):
        return otherwise and not method.startswith("approx")


def _test(method: str, ref: Any, *, by_type: bool) -> Callable[[Any], Any]:
    if method in COMPARISONS:
        return lambda value: compare(method, value, ref, by_type=by_type)
    name, _, argument = method.partition(":" if method.startswith("approx:") else ".")
    if name == "re":
        flags = [getattr(re, flag) for flag in argument.split(".") if flag]
        return re.compile(ref, sum(flags, re.RegexFlag(0))).search
    if name == "approx":
        tolerance, middle, number = float(argument), float(ref), number_of if by_type else float
        return lambda value: abs(number(value) - middle) <= tolerance
    if name == "range":
        left, right = _BOUNDS[argument[0]], _BOUNDS[argument[1]]
        low, high = ref
        return lambda value: compare(left, low, value, by_type=by_type) and compare(right, value, high, by_type=by_type)
    if method in {"str_list_eq", "str_set_eq"}:
        kind = list if method == "str_list_eq" else set
        parts = kind(ref)
        return lambda value: kind(value.strip("\"'").split(",")) == parts
    raise KeyError(method)
