"""`chrome_open_tabs`: opens pages in Chrome."""

from backend.domain.registry import Kind, register
from backend.domain.setup._tabs import OpenTabs


@register(Kind.SETUP, "chrome_open_tabs")
class ChromeOpenTabs(OpenTabs):
    """See `OpenTabs`."""
