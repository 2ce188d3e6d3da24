"""`chrome_close_tabs`: closes pages of Chrome."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._tabs import CloseTabs


@register(PluginKind.SETUP, "chrome_close_tabs")
class ChromeCloseTabs(CloseTabs):
    """See `CloseTabs`."""
