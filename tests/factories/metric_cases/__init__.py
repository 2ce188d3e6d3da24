"""Calls of metrics, one module per group of metrics: a right one, a nearly right one, and one of a given size.

The contract suite and the benchmark of the metrics run them all, so that a metric cannot be forgotten in either.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.factories.cases import collected


@dataclass(frozen=True)
class Call:
    """Arguments of a metric: `metric(*args, **options)`; files are given as paths (str)."""

    args: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MetricCase:
    """How one metric is tried. Each maker gets an empty folder of its own.

    Attributes:
        passing: a call whose value is `best`.
        near_miss: a call that differs from a right one in one small thing; its value is below `best`.
        sized: a call with an input file of about so many bytes; None where the input has no size worth measuring.
        best: the value of `passing`.
        of_file: the first argument is a path, so that absent, damaged and hostile files are tried, too.
        kinds: ends of file names (`docx`) whose hostile forms are worth trying, for example a zip bomb.
    """

    passing: Callable[[Path], Call]
    near_miss: Callable[[Path], Call]
    sized: Callable[[Path, int], Call] | None = None
    best: float = 1.0
    of_file: bool = True
    kinds: tuple[str, ...] = ()


def all_cases() -> dict[tuple[str, str], MetricCase]:
    """Every case by (dialect, name)."""
    return collected(__name__, __path__)
