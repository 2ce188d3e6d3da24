"""Light and dark mode in Chrome's settings."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import at

NAMES = {0: "system", 1: "light", 2: "dark"}
"""Values of the enumeration in Chromium's theme_service.h."""


def colour_name(choice: Any) -> str | None:
    """The name of a value; None if it is unknown."""
    text = str(choice).strip().lower()
    known = {str(number): name for number, name in NAMES.items()} | {name: name for name in NAMES.values()}
    return known.get("system" if text == "default" else text)


def scheme(settings: Mapping[str, Any]) -> str:
    """The mode in the profile's settings; newer versions write `color_scheme2`."""
    for key in ("browser.theme.color_scheme2", "browser.theme.color_scheme"):
        name = colour_name(at(settings, key))
        if name is not None:
            return name
    return "system"
