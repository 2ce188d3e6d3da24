"""Getters with parameters and a desktop on which they find something, one module per group of getters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.factories.cases import collected
from tests.factories.starter_tasks import FakeContext


@dataclass(frozen=True)
class GetterCase:
    """How one getter is tried.

    Attributes:
        parameters: as in a task file, without `type`.
        found: a context whose desktop has what the getter looks for.
        value: what `read` makes of it; a str in which `{folder}` stands for the folder that `read` was given.
        absent: a context whose desktop lacks it; None where nothing can lack (`rule`).
        absent_value: what `read` makes of that, or an exception class that `read` raises because it cannot say.
        in_desktop: what it looks for lies in the desktop, so that a dead one is a loss.
    """

    parameters: Mapping[str, Any]
    found: Callable[[], FakeContext]
    value: Any
    absent: Callable[[], FakeContext] | None = None
    absent_value: Any = None
    in_desktop: bool = True


def all_cases() -> dict[tuple[str, str], GetterCase]:
    """Every case by (dialect, name)."""
    return collected(__name__, __path__)
