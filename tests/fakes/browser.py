"""A browser in memory: pages with an address, a title and HTML; expressions answer from a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.ports_web import Tab


class FakeBrowser:
    """Pages that are opened get the HTML that `site` holds for their address.

    Attributes:
        values: what expressions give.
        running: False = nothing answers on the port.
    """

    def __init__(self, site: Mapping[str, str] | None = None, *, running: bool = True) -> None:
        self.site = dict(site or {})
        self.running = running
        self.values: dict[str, Any] = {}
        self.pages: dict[str, Tab] = {}
        self._made = 0

    def _page(self, tab: str) -> Tab:
        self._check()
        if tab not in self.pages:
            raise GuestRefused(f"there is no page {tab}", kind="not_found")
        return self.pages[tab]

    def _check(self) -> None:
        if not self.running:
            raise GuestRefused("nothing answers as DevTools", kind="no_browser")

    def tabs(self) -> Sequence[Tab]:
        self._check()
        return list(reversed(self.pages.values()))

    def open(self, url: str, *, timeout: float = 30.0) -> Tab:
        self._check()
        self._made += 1
        made = self.pages[str(self._made)] = Tab(id=str(self._made), url=url, title=url)
        return made

    def close(self, tab: str) -> None:
        self._page(tab)
        del self.pages[tab]

    def navigate(self, tab: str, url: str, *, timeout: float = 30.0) -> None:
        self.pages[tab] = self._page(tab).model_copy(update={"url": url, "title": url})

    def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
        self._page(tab)
        return self.values.get(expression)

    def content(self, tab: str) -> str:
        return self.site.get(self._page(tab).url, "<html><head></head><body></body></html>")

    def pdf(self, tab: str) -> bytes:
        return b"%PDF-1.4 " + self._page(tab).url.encode()

    def command(self, tab: str, method: str, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        self._page(tab)
        return {}

    def shut(self) -> None:
        """Nothing is held."""
