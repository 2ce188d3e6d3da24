"""Whether a browser of the desktop can be talked to."""

from backend.domain.errors import GuestRefused
from backend.domain.ports.web import Browser


def why_silent(browser: Browser) -> str:
    """Why no browser answers over DevTools, in words; empty if one does.

    Raises:
        GuestRefused: there is one, and it does not say what it shows (`timeout`, for example).
        GuestLost: the desktop is dead.
    """
    try:
        browser.tabs()
    except GuestRefused as error:
        if error.kind != "no_browser":
            raise
        return error.message
    return ""
