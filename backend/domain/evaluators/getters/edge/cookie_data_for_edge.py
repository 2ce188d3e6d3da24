"""`cookie_data_for_edge`: Edge's cookies."""

from contextlib import suppress

from backend.domain.browser_profiles import EDGE, System
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._cookies import Cookies
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register


@register(Kind.GETTER, "cookie_data_for_edge")
class CookieDataForEdge(Cookies):
    """See `Cookies`. On Windows Edge is ended first: while it runs nobody else may read the file."""

    product = EDGE

    def make_readable(self, context: SetupContext, platform: str) -> None:
        """Ends Edge on Windows."""
        if platform == System.WINDOWS:
            with suppress(GuestRefused):  # It does not run.
                context.desktop.execute(["taskkill", "/F", "/IM", "msedge.exe", "/T"])
