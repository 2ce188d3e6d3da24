"""Waiting on conditions in tests, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], seconds: float = 30.0, *, what: str | Callable[[], str] = "") -> T:
    """The first true value of `condition`; fails the test when there is none in time.

    Args:
        condition: is asked again and again.
        seconds: to wait at most.
        what: the failure's words, or a function that gives them then.
    """
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            words = what() if callable(what) else what
            raise AssertionError(f"not within {seconds:g} s: {words or condition}")
        time.sleep(0.01)


def seconds_until(
    condition: Callable[[], object], seconds: float = 30.0, *, what: str | Callable[[], str] = ""
) -> float:
    """How long it took until the condition held; fails like `until`."""
    start = time.monotonic()
    until(condition, seconds, what=what)
    return time.monotonic() - start


def holds(condition: Callable[[], object], seconds: float, *, what: str = "") -> None:
    """Fails the test if the condition does not hold at any time within these seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not condition():
            raise AssertionError(f"it did not last for {seconds:g} s: {what or condition}")
        time.sleep(0.05)
