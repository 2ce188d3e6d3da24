"""Set-up steps with parameters and a desktop on which they work, one module per group of steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.factories.cases import collected
from tests.factories.starter_tasks import FakeContext


@dataclass(frozen=True)
class SetupCase:
    """How one step is tried.

    Attributes:
        parameters: good ones, as in a task file.
        place: makes a context on which the step works.
        done: whether the step's effect is there afterwards.
        bare: makes a context that lacks what the step needs (its program, window, secret); the step must fail in a
            typed error, or find nothing to do.
        refused: the step's `check` refuses every use, because no version of it ever did anything.
        asks_desktop: False for a step that never speaks with the desktop, so that a dead one is no matter to it.
        again: puts the place back so that the step can run a second time, where that takes something.
    """

    parameters: Mapping[str, Any]
    place: Callable[[], FakeContext]
    done: Callable[[FakeContext], bool] = lambda _: True
    bare: Callable[[], FakeContext] | None = None
    refused: bool = False
    asks_desktop: bool = True
    again: Callable[[FakeContext], None] = lambda _: None


def all_cases() -> dict[tuple[str, str], SetupCase]:
    """Every case by (dialect, name)."""
    return collected(__name__, __path__)
