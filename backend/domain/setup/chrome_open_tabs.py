"""`chrome_open_tabs`: opens pages in Chrome."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._tabs import OpenTabs


@register(PluginKind.SETUP, "chrome_open_tabs")
class ChromeOpenTabs(OpenTabs):
    """See `OpenTabs`."""


@register(PluginKind.SETUP, "edge_open_tabs")
class EdgeOpenTabs(OpenTabs):
    """Opens pages in Microsoft Edge."""
