"""Ports of the desktop's browser (DevTools) and of the web."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from backend.domain.model.task import Frozen


class Tab(Frozen):
    """A page of a browser, as DevTools lists it.

    Attributes:
        id: names the page in every other call.
        kind: `page`, `background_page`, `service_worker`, ... as DevTools says.
    """

    id: str
    url: str
    title: str = ""
    kind: str = "page"


class Browser(Protocol):
    """A browser inside the desktop, spoken to over DevTools through the guest API's `/tunnel`.

    Every method raises GuestLost when the desktop is dead and GuestRefused when nothing answers as DevTools on the
    port (kind `no_browser`), the page is gone (`not_found`), or it does not answer in time (`timeout`). Nothing that
    it returns is trusted: sizes are bounded (`too_large`).
    """

    def tabs(self) -> Sequence[Tab]:
        """Pages only (`kind` `page`), last used first, as DevTools lists them."""
        ...

    def open(self, url: str, *, timeout: float = 30.0, background: bool = False) -> Tab:
        """Opens a page in a new tab and returns when it has loaded.

        Args:
            url: what to open.
            timeout: seconds; a page that is still loading then stays open and raises GuestRefused `timeout`.
            background: the visible tab stays visible, so that inspecting does not change the state.

        Raises:
            GuestRefused: kind `failed`, the page is unavailable; no tab is left.
        """
        ...

    def close(self, tab: str) -> None:
        """Closes a page; returns when it is gone."""
        ...

    def navigate(self, tab: str, url: str, *, timeout: float = 30.0) -> None:
        """Leads an open page to another address and returns when that has loaded."""
        ...

    def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
        """The JSON value of a JavaScript expression in the page; promises are awaited.

        Raises:
            GuestRefused: kind `failed`, the expression threw.
        """
        ...

    def content(self, tab: str) -> str:
        """The page's document as HTML, as it is now."""
        ...

    def pdf(self, tab: str) -> bytes:
        """The page printed as PDF."""
        ...

    def command(self, tab: str, method: str, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Any other DevTools command; returns its result."""
        ...

    def shut(self) -> None:
        """Closes every connection; the browser keeps running. Safe to call twice."""
        ...


class WebReply(Frozen):
    """Response of a web server; dated, because a later one may differ.

    Attributes:
        url: where the answer came from, after redirects.
        fetched_at: seconds since 1970.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: float


class Web(Protocol):
    """The guarded way to the web for evaluation and assets: never to private, loopback or link-local addresses."""

    def get(
        self, url: str, *, headers: Mapping[str, str] | None = None, max_bytes: int = 64 * 2**20, timeout: float = 60.0
    ) -> WebReply:
        """Downloads a page or file with GET and follows redirects, each checked like the first.

        Raises:
            Invalid: the address is not one that may be asked: scheme, user info, private network.
            WebFailed: no answer: the name does not resolve, connection, time, size, too many redirects. A status such
                as 404 is an answer.
        """
        ...

    def send(  # noqa: PLR0913 - a request has as many parts
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        max_bytes: int = 64 * 2**20,
        timeout: float = 60.0,
    ) -> WebReply:
        """Any other request (POST, DELETE, ...), for the interfaces of web services. A redirect is an answer here.

        Raises:
            Invalid, WebFailed: as `get`.
        """
        ...
