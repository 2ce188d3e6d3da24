"""`edge_open_tabs`: opens pages in Microsoft Edge."""

from backend.domain.registry import Kind, register
from backend.domain.setup._tabs import OpenTabs


@register(Kind.SETUP, "edge_open_tabs")
class EdgeOpenTabs(OpenTabs):
    """See `OpenTabs`."""
