"""`cookie_data_for_edge`: Edge's cookies."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from backend.domain.browser_cookies import answers, await_written
from backend.domain.browser_profiles import EDGE, System
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._cookies import Cookies
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


@register(Kind.GETTER, "cookie_data_for_edge")
class CookieDataForEdge(Cookies):
    """See `Cookies`. On Windows Edge is ended first: while it runs nobody else may read the file."""

    product = EDGE

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        platform = context.desktop.probe().platform
        if platform == System.WINDOWS:
            if answers(context):
                await_written(context, self.product.folders(platform))
            with suppress(GuestRefused):  # It does not run.
                context.desktop.execute(["taskkill", "/F", "/IM", "msedge.exe", "/T"])
        return super().collect(context, parameters)
