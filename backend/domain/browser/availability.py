"""Checks whether a browser of the desktop answers."""

from backend.domain.errors import GuestRefused
from backend.domain.ports.web import Browser


def why_silent(browser: Browser) -> str:
    """Reason why no browser answers over DevTools; empty if one does.

    Raises:
        GuestRefused: a browser exists but does not list its pages (`timeout`, for example).
        GuestLost: the desktop is dead.
    """
    try:
        browser.tabs()
    except GuestRefused as error:
        if error.kind != "no_browser":
            raise
        return error.message
    return ""
