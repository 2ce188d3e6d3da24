"""`cookie_data`: the browser's cookies."""

from backend.domain.browser.profiles import EDGE, BrowserPlatform
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._cookies import Cookies
from backend.domain.evaluators.getters._evidence import absence
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "cookie_data")
class CookieData(Cookies):
    """See `Cookies`."""


@register(PluginKind.GETTER, "cookie_data_for_edge")
class CookieDataForEdge(Cookies):
    """Edge's cookies.

    On Windows Edge is ended first: while it runs, the file is locked.
    """

    product = EDGE

    def make_readable(self, context: SetupContext, platform: str) -> None:
        """Ends Edge on Windows."""
        if platform == BrowserPlatform.WINDOWS:
            try:
                context.desktop.execute(["taskkill", "/F", "/IM", "msedge.exe", "/T"])
            except GuestRefused as error:
                absence("taskkill", error)  # If Edge keeps running, its file is locked and would look absent.
