"""`{"method": ..., "ref": ...}`: a rule for a single value."""

import functools
import operator
import re
from collections.abc import Sequence
from typing import Any, Self

from pydantic import model_validator

from backend.domain.formats.json_values import COMPARISONS, compare, number_of
from backend.domain.formats.sheet import Bounds, bounds
from backend.domain.model.parameters import Parameters

_BOUNDS = {"t": "lt", "e": "le"}
_RANGE = re.compile(r"range\.([te])([te])")
_LISTS = {"str_list_eq": list, "str_set_eq": set}


class ValueRule(Parameters):
    """One comparison.

    Attributes:
        method: `eq`, `ne`, `le`, `lt`, `ge`, `gt`; `re` with flags (`re.I`), matched anywhere; `approx:0.1`; `range.te`
            (`t` excludes the bound, `e` includes it); `spreadsheet_range` (at least the first, at most the second of
            two areas); `str_list_eq`, `str_set_eq` (a list in quotes with commas).
        ref: the reference value.
    """

    method: str
    ref: Any

    @model_validator(mode="after")
    def _understood(self) -> Self:
        complaint = _complaint(self.method, self.ref)
        if complaint:
            raise ValueError(complaint)
        return self

    def matches(self, value: Any, *, strict: bool = False) -> bool:
        """Whether a value satisfies the rule. A value of another type does not.

        Args:
            value: the value as read; None = missing.
            strict: as upstream, where blanks beside commas are part of list entries and TRUE is 1.
        """
        if self.method in _LISTS:
            return isinstance(value, str) and self._same_list(value, strict=strict)
        if self.method == "spreadsheet_range":
            return isinstance(value, str) and _is_between(areas(value), areas(self.ref[0]), areas(self.ref[1]))
        try:
            return bool(self._compared(value, by_type=not strict))
        except (TypeError, ValueError, OverflowError):
            return False

    def _compared(self, value: Any, *, by_type: bool) -> bool:
        if self.method in COMPARISONS:
            return compare(self.method, value, self.ref, by_type=by_type)
        if self.method.startswith("approx:"):
            number = number_of if by_type else float
            return bool(abs(number(value) - float(self.ref)) <= float(self.method.split(":")[1]))
        if (match := _RANGE.fullmatch(self.method)) is not None:
            low, high = (_BOUNDS[letter] for letter in match.groups())
            return compare(low, self.ref[0], value, by_type=by_type) and compare(
                high, value, self.ref[1], by_type=by_type
            )
        return re.search(self.ref, value, _flags(self.method)) is not None

    def _same_list(self, value: str, *, strict: bool) -> bool:
        entries = value.strip("\"'").split(",")
        kind = _LISTS[self.method]
        return bool(kind(entries if strict else [entry.strip() for entry in entries]) == kind(self.ref))


def areas(text: str) -> list[Bounds]:
    """The areas of `A1:B2 C3`; invalid ones are left out."""
    return [area for part in str(text).split() if (area := bounds(part)) is not None]


def _is_between(areas: Sequence[Bounds], least: Sequence[Bounds], most: Sequence[Bounds]) -> bool:
    return all(_is_within(part, areas) for part in least) and all(_is_within(part, most) for part in areas)


def _is_within(part: Bounds, areas: Sequence[Bounds]) -> bool:
    """Whether an area is inside the union of others: subtracting each leaves nothing."""
    uncovered = [part]
    for area in areas:
        uncovered = [piece for area_left in uncovered for piece in _without(area_left, area)]
    return not uncovered


def _without(part: Bounds, area: Bounds) -> list[Bounds]:
    top, first, bottom, last = (
        max(part[0], area[0]),
        max(part[1], area[1]),
        min(part[2], area[2]),
        min(part[3], area[3]),
    )
    if top > bottom or first > last:
        return [part]
    pieces = [
        (part[0], part[1], top - 1, part[3]),
        (bottom + 1, part[1], part[2], part[3]),
        (top, part[1], bottom, first - 1),
        (top, last + 1, bottom, part[3]),
    ]
    return [piece for piece in pieces if piece[0] <= piece[2] and piece[1] <= piece[3]]


def _flags(method: str) -> re.RegexFlag:
    names = method.split(".")[1:]
    return functools.reduce(operator.or_, (re.RegexFlag[name] for name in names), re.RegexFlag(0))


def _complaint(method: str, ref: Any) -> str:
    """Why a rule is invalid; empty if it is valid."""
    if method in COMPARISONS:
        return ""
    if method in _LISTS or method == "spreadsheet_range" or _RANGE.fullmatch(method):
        return _complaint_of_lists(method, ref)
    if method.startswith("approx:"):
        return "" if _is_number(method.split(":")[1]) and _is_number(ref) else f"{method!r} needs numbers"
    if not method.startswith("re"):
        return f"unknown method {method!r}"
    try:
        re.compile(ref, _flags(method))
    except (re.error, TypeError, KeyError) as error:
        return f"{method!r}: {error} is not a regular expression or flag"
    return ""


def _complaint_of_lists(method: str, ref: Any) -> str:
    if not isinstance(ref, list | tuple):
        return f"{method!r} needs a list"
    if method in _LISTS:
        return "" if all(isinstance(entry, str) for entry in ref) else f"{method!r} needs a list of texts"
    right = all(map(_is_number, ref)) if method != "spreadsheet_range" else all(areas(entry) for entry in ref)
    return "" if len(ref) == 2 and right else f"{method!r} needs two bounds"  # noqa: PLR2004


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
