"""Reads Windows' Clock app from its accessibility tree. Pure.

The names are those of the app's controls in English, which WindowsAgentArena's checks use. A running timer is `Edit
timer, ..., Running, 59 seconds, Remaining Of, 30 minutes 0 seconds`, with the button `Timer running, Pause` in it. A
city of the world clock is `Kyoto, Japan, ...`.
"""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

_APP = re.compile(r"(?:^|\W)(?:alarms & )?clock$", re.IGNORECASE)
_RUNNING = "timer running, pause"
_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))
_SUGGESTIONS = ("suggest", "search", "autosuggest")


def clock_windows(desktop: Element) -> Iterator[Element]:
    """The windows of the app."""
    return (window for window in desktop if _APP.search(window.get("name", "")))


def seconds_in(text: str) -> int | None:
    """Parses a duration such as `1 hour 30 minutes 0 seconds`; units may be missing. None without one."""
    matches = [(re.search(rf"(\d+)\s*{unit}s?\b", text, re.IGNORECASE), worth) for unit, worth in _UNITS]
    parts = [int(match[1]) * worth for match, worth in matches if match is not None]
    return sum(parts) if parts else None


def timer_runs(desktop: Element, seconds: int) -> bool:
    """Whether a timer of that length is running."""
    return any(_is_running(element, seconds) for window in clock_windows(desktop) for element in window.iter())


def _is_running(control: Element, seconds: int) -> bool:
    name = control.get("name", "")
    lower = name.lower()
    # The remaining time comes before `Of,`, the timer's length after it.
    length = name[lower.index("of,") :] if "of," in lower else name
    if seconds_in(length) != seconds or "not started" in lower:
        return False
    says_so = "edit timer" in lower and "running" in lower
    return says_so or any(inner.get("name", "").lower() == _RUNNING for inner in control.iter())


def shows_city(desktop: Element, city: str, country: str) -> bool:
    """Whether the world clock has that city; suggestions of the city search do not count."""
    label = f"{city}, {country}".lower()
    return any(label in name.lower() for window in clock_windows(desktop) for name in _names(window))


def _names(control: Element) -> Iterator[str]:
    if any(word in f"{control.tag} {_identity(control)}".lower() for word in _SUGGESTIONS):
        return
    yield control.get("name", "")
    for child in control:
        yield from _names(child)


def _identity(control: Element) -> str:
    return next((value for key, value in control.items() if key.endswith("}automation_id")), "")
