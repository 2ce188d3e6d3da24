"""Shared implementation of both suites' `is_shortcut_on_desktop`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue

_GROUP = "[Desktop Entry]"
Fits = Callable[[str, str], bool]


def entries(text: str, key: str, *, strict: bool) -> Iterator[str]:
    """The values of a key in the text of a `.desktop` file.

    Source: freedesktop.org's Desktop Entry Specification 1.5, 3: a shortcut's own entries are those of the group
    `Desktop Entry`, others belong to its further actions; blanks beside the equals sign mean nothing.

    Args:
        text: of the file.
        key: of the entry.
        strict: as published, any line that begins with the key counts, but without a blank after it.
    """
    group = _GROUP
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("[") and not strict:
            group = line.strip()
        elif equals and group == _GROUP and key == (name if strict else name.strip()):
            yield value if strict else value.strip()


def among(shortcuts: Any, expected: str, values: Callable[[str], Iterator[str]], fits: Fits) -> MetricValue:
    """1 if a value of any shortcut matches the expectation."""
    known: Mapping[str, str] = shortcuts or {}
    actual = {name: list(values(text)) for name, text in known.items() if isinstance(text, str)}
    for name, bindings in sorted(actual.items()):
        if any(fits(value, expected) for value in bindings):
            return verdict(met=True, reason=f"{short(name)} has {short(expected)}")
    return verdict(met=False, reason=f"no shortcut has {short(expected)}; there are {short(actual, 400)}")
