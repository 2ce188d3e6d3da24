"""`edge_open_tabs`: opens pages in Microsoft Edge."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._tabs import OpenTabs


@register(PluginKind.SETUP, "edge_open_tabs")
class EdgeOpenTabs(OpenTabs):
    """See `OpenTabs`."""
