"""A browser in memory: pages with an address, a title and HTML; expressions answer from a table."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from backend.domain.errors import GuestRefused
from backend.domain.ports.web import Tab

NEVER = "new Promise(() => 0)"
PLAIN = "<html><head></head><body></body></html>"


class _Probed(Protocol):
    def probe(self) -> Any: ...


class FakeBrowser:
    """Pages that are opened get the HTML that `site` holds for their address.

    Attributes:
        values: what expressions give; those of every page have `location.href`, `document.title` and the visibility.
        on_evaluate: asked for an expression that `values` lacks: (page, expression) to value.
        running: False = nothing answers on the port.
        broken: addresses that cannot be had.
        slow: addresses that never end loading.
        opened: addresses in the order in which they were opened.
        results: what other DevTools commands give, by method.
        desktop: with it the browser is dead when the desktop is.
    """

    def __init__(
        self, site: Mapping[str, str] | None = None, *, running: bool = True, desktop: _Probed | None = None
    ) -> None:
        self.site = dict(site or {})
        self.running = running
        self.desktop = desktop
        self.values: dict[str, Any] = {}
        self.on_evaluate: Callable[[Tab, str], Any] | None = None
        self.pages: dict[str, Tab] = {}
        self.broken: set[str] = set()
        self.slow: set[str] = set()
        self.opened: list[str] = []
        self.results: dict[str, Mapping[str, Any]] = {}
        self._made = 0
        self._front: list[str] = []

    def _page(self, tab: str) -> Tab:
        self._check()
        if tab not in self.pages:
            raise GuestRefused(f"there is no page {tab}", kind="not_found")
        return self.pages[tab]

    def _check(self) -> None:
        if self.desktop is not None:
            self.desktop.probe()
        if not self.running:
            raise GuestRefused("nothing answers as DevTools", kind="no_browser")

    def tabs(self) -> Sequence[Tab]:
        self._check()
        return [self.pages[tab] for tab in reversed(self._front)]

    def open(self, url: str, *, timeout: float = 30.0, background: bool = False) -> Tab:
        self._check()
        if url in self.broken:
            raise GuestRefused(f"{url} does not open: net::ERR_NAME_NOT_RESOLVED", kind="failed")
        self._made += 1
        self.opened.append(url)
        tab = self.pages[str(self._made)] = Tab(id=str(self._made), url=url, title=self._title(url))
        self._front.insert(0 if background else len(self._front), tab.id)
        if url in self.slow:
            raise GuestRefused(f"opening {url} took longer than {timeout:g} s", kind="timeout")
        return tab

    def _title(self, url: str) -> str:
        title = re.search("<title>(.*?)</title>", self.site.get(url, ""))
        return title[1] if title else url

    def close(self, tab: str) -> None:
        self._page(tab)
        del self.pages[tab]
        self._front.remove(tab)

    def navigate(self, tab: str, url: str, *, timeout: float = 30.0) -> None:
        page = self._page(tab)
        if url in self.broken:
            raise GuestRefused(f"{url} does not open: net::ERR_NAME_NOT_RESOLVED", kind="failed")
        self.pages[tab] = page.model_copy(update={"url": url, "title": self._title(url)})

    def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
        page = self._page(tab)
        shows = "visible" if self._front[-1:] == [tab] else "hidden"
        known = {"location.href": page.url, "document.title": page.title, "document.visibilityState": shows, "1 + 1": 2}
        known["[location.href, document.title]"] = [page.url, page.title]
        known |= self.values
        if expression not in known and self.on_evaluate is not None:
            return self.on_evaluate(page, expression)
        if expression == NEVER:
            raise GuestRefused(f"a page's answer took longer than {timeout:g} s", kind="timeout")
        if expression.startswith("throw"):
            raise GuestRefused("the expression threw", kind="failed")
        return known.get(expression)

    def content(self, tab: str) -> str:
        return self.site.get(self._page(tab).url, PLAIN)

    def pdf(self, tab: str) -> bytes:
        return b"%PDF-1.4 " + self._page(tab).url.encode()

    def command(self, tab: str, method: str, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        self._page(tab)
        return self.results.get(method, {})

    def shut(self) -> None:
        """Nothing is held."""
