"""Waiting on conditions in tests, with a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SHORTEST, LONGEST = 0.01, 0.1
"""Seconds between two looks."""


def pause(waited: float, cost: float) -> float:
    """Seconds until the next look: longer the longer it takes already, and the more a look costs, which is processor
    time that what is waited for may need.

    Args:
        waited: seconds since the first look.
        cost: seconds that the last look took.
    """
    return min(max(SHORTEST, waited / 20, cost * 3), LONGEST)


def until(condition: Callable[[], T], seconds: float = 30.0, *, what: str | Callable[[], str] = "") -> T:
    """The first true value of `condition`; fails the test when there is none in time.

    Args:
        condition: is asked again and again.
        seconds: to wait at most.
        what: the failure's words, or a function that gives them then.
    """
    start = time.monotonic()
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now - start > seconds:
            words = what() if callable(what) else what
            raise AssertionError(f"not within {seconds:g} s: {words or condition}")
        time.sleep(pause(now - start, now - asked))


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
