"""`cookie_data_for_edge`: Edge's cookies."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from backend.domain.browser_profiles import EDGE, System
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._profile import Database
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


@register(Kind.GETTER, "cookie_data_for_edge")
class CookieDataForEdge(Database):
    """`dest`, `user_data_dir`. The value is a list of rows of the table `cookies`; the host is the second of a row.

    None if there is no such file. On Windows Edge is ended first: while it runs nobody else may read the file.
    """

    product = EDGE
    names = ("Default/Network/Cookies", "Default/Cookies")
    query = "SELECT * FROM cookies"

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        if context.desktop.probe().platform == System.WINDOWS:
            with suppress(GuestRefused):  # It does not run.
                context.desktop.execute(["taskkill", "/F", "/IM", "msedge.exe", "/T"])
        return super().collect(context, parameters)
