"""Combines single goals into a metric's value."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import MetricValue

Goal = tuple[bool, str]
"""Whether the goal is met, and a description of the actual state."""


def verdict(met: object, reason: str) -> MetricValue:
    """1 or 0 with one reason."""
    return MetricValue(value=float(bool(met)), reasons=(reason,))


def share_of_goals(goals: Iterable[Goal], *, partial: bool, keeps: Iterable[Goal] = ()) -> MetricValue:
    """The share of met goals (`partial`), or 1 only if all are met; 0 if a condition in `keeps` is broken.

    Args:
        goals: goals; not met at the start.
        partial: whether a subset of the goals gives a partial score.
        keeps: conditions that must still hold.

    Raises:
        EvaluatorFailed: a task without goals cannot be judged.
    """
    goals, broken = list(goals), [words for fine, words in keeps if not fine]
    if not goals:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint="Look at the task's `expected.rules`.")
    met = sum(fine for fine, _ in goals)
    reasons = tuple(f"{'met' if fine else 'not met'}: {words}" for fine, words in goals)
    reasons += tuple(f"broken: {words}" for words in broken)
    if broken:
        return MetricValue(value=0.0, reasons=reasons)
    return MetricValue(value=met / len(goals) if partial else float(met == len(goals)), reasons=reasons)


def short(value: object, most: int = 120) -> str:
    """A value as a reader writes it, cut to `most` characters: `'a', 'b'`, `name: 'a', size: 3`, `true`, `nothing`."""
    text = _text(value)
    return text if len(text) <= most else f"{text[:most]} ..."


def _text(value: object) -> str:
    match value:
        case str() | bytes():
            return repr(value)
        case bool():
            return str(value).lower()
        case None:
            return "nothing"
        case Mapping():
            parts = [f"{key}: {_part(part)}" for key, part in value.items()]
        case AbstractSet():
            parts = sorted(map(_part, value))
        case Sequence():
            parts = [_part(part) for part in value]
        case _:
            return str(value)
    return ", ".join(parts) or "nothing"


def _part(value: object) -> str:
    """A value within another: one with parts of its own is put into brackets."""
    return f"({_text(value)})" if isinstance(value, Mapping | AbstractSet | list | tuple) else _text(value)
