"""Shared implementation of both suites' `is_shortcut_on_desktop`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue

Fits = Callable[[str, str], bool]


def entries(text: str, key: str) -> Iterator[str]:
    """The values of a key in the text of a `.desktop` file."""
    for line in text.splitlines():
        if line.startswith(f"{key}="):
            yield line[len(key) + 1 :]


def among(shortcuts: Any, expected: str, values: Callable[[str], Iterator[str]], fits: Fits) -> MetricValue:
    """1 if a value of any shortcut matches the expectation."""
    known: Mapping[str, str] = shortcuts or {}
    actual = {name: list(values(text)) for name, text in known.items() if isinstance(text, str)}
    for name, each in sorted(actual.items()):
        if any(fits(value, expected) for value in each):
            return verdict(met=True, reason=f"{short(name)} has {short(expected)}")
    return verdict(met=False, reason=f"no shortcut has {short(expected)}; there are {short(actual, 400)}")
