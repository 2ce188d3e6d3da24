"""Compares values by type, as JSON and the programs that read it see them.

`true` is not 1 and `false` is not 0, at any depth; 1 and 1.0 are the same number (RFC 8259 has a single number type).
Python's `==`, `in` and `<` take truth values for numbers.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge")}
COMPARISONS = frozenset({"eq", "ne", *_ORDERS})


def equal(left: Any, right: Any) -> bool:
    """Whether two values are of one kind and equal, with all that they hold."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _keys(left) == _keys(right) and all(equal(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return equal(list(left), list(right))
    return isinstance(left, bool) is isinstance(right, bool) and bool(left == right)


def _keys(values: Mapping[Any, Any]) -> set[tuple[bool, Any]]:
    return {(isinstance(key, bool), key) for key in values}


def among(value: Any, values: Iterable[Any]) -> bool:
    """Whether one of the values equals this one."""
    return any(equal(value, candidate) for candidate in values)


def same_items(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two lists hold equal values as often as each other, in any order."""
    unmatched = list(right)
    for value in left:
        position = next((index for index, other in enumerate(unmatched) if equal(value, other)), None)
        if position is None:
            return False
        del unmatched[position]
    return not unmatched


def compare(method: str, value: Any, ref: Any, *, by_type: bool = True) -> bool:
    """`value METHOD ref` for a method of COMPARISONS.

    Args:
        method: `eq`, `ne`, `lt`, `le`, `gt` or `ge`.
        value: the left side.
        ref: the right side.
        by_type: False compares as Python does, where `True == 1`.

    Raises:
        TypeError: the two have no order.
    """
    if not by_type:
        return bool(getattr(operator, method)(value, ref))
    if method in {"eq", "ne"}:
        return equal(value, ref) is (method == "eq")
    if not _have_order(value, ref):
        raise TypeError(f"{type(value).__name__} and {type(ref).__name__} have no order")
    return bool(_ORDERS[method](value, ref))


def _have_order(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return all(map(_have_order, left, right))
    return isinstance(left, bool) is isinstance(right, bool)


def number_of(value: Any) -> float:
    """Converts a number, or a text that consists of one, to a float.

    Raises:
        TypeError: another type, also a boolean.
        ValueError: a text that is not a number, or a number that is too large for a float.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(f"{type(value).__name__} is not a number")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise ValueError(f"{value[:20]!r} is not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("the number is too large") from error
