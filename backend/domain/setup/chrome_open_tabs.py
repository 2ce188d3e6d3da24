"""`chrome_open_tabs`: opens pages in Chrome."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._tabs import OpenTabs


@register(PluginKind.SETUP, "chrome_open_tabs")
class ChromeOpenTabs(OpenTabs):
    """See `OpenTabs`."""
