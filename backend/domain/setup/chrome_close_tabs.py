"""`chrome_close_tabs`: closes pages of Chrome."""

from backend.domain.registry import Kind, register
from backend.domain.setup._tabs import CloseTabs


@register(Kind.SETUP, "chrome_close_tabs")
class ChromeCloseTabs(CloseTabs):
    """See `CloseTabs`."""
