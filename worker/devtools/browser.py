"""Browser port on DevTools. The port's docstrings are the specification."""
# ruff: noqa: D102

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.ports.web import Tab
from worker.devtools.http import DevToolsAnswer, ask
from worker.devtools.session import Session
from worker.devtools.tunnel import Deadline, Tunnel

_QUICK = 10.0
_SLOW = 60.0
_LOOK = 0.05
_OK = 200
_MAX_TABS = 500
_CONTENT = (
    "(document.doctype ? new XMLSerializer().serializeToString(document.doctype) + '\\n' : '')"
    " + document.documentElement.outerHTML"
)


class DevToolsBrowser:
    """A browser behind a tunnel. Connects on first use; for one thread at a time."""

    def __init__(self, address: str, secret: str, ports: Sequence[int]) -> None:
        """Does not connect yet.

        Args:
            address: of the guest API: `http://host:port`, or `unix:/path` of a socket.
            secret: the desktop's secret.
            ports: ports on which the browser may listen, the likeliest first. The first that responds is used.
        """
        self._where = (address, secret)
        self.ports = tuple(ports)
        self._sessions: dict[str, Session] = {}
        self._port: int | None = None

    def tabs(self) -> Sequence[Tab]:
        listed = self._json("/json/list", Deadline(_QUICK, "listing the browser's pages"))
        if not isinstance(listed, list):
            raise _no_browser("the server on the port is not DevTools")
        entries = [entry for entry in listed[:_MAX_TABS] if isinstance(entry, dict) and entry.get("type") == "page"]
        return [_tab(entry) for entry in entries]

    def open(self, url: str, *, timeout: float = 30.0, background: bool = False) -> Tab:
        deadline = Deadline(timeout, f"opening {url[:200]}")
        target = self._call("", "Target.createTarget", {"url": "about:blank", "background": background}, deadline)
        tab = str(target.get("targetId", ""))
        try:
            if background:
                # A page that believes itself hidden may draw and load nothing.
                self._call(tab, "Emulation.setFocusEmulationEnabled", {"enabled": True}, deadline)
            self._lead(tab, url, deadline)
        except GuestRefused as error:
            # A slow page stays open, as for a person; a page that failed to load is closed.
            if error.kind == "failed":
                self.close(tab)
            raise
        location = self.evaluate(tab, "[location.href, document.title]")
        return Tab(id=tab, url=str(location[0]), title=str(location[1]))

    def close(self, tab: str) -> None:
        deadline = Deadline(_QUICK, "closing a page")
        self._drop(tab)
        if self._ask(f"/json/close/{_plain(tab)}", deadline).status != _OK:
            raise GuestRefused(f"there is no page {tab[:100]}", kind="not_found")
        try:
            while any(open_tab.id == tab for open_tab in self.tabs()):
                Event().wait(min(_LOOK, deadline.left()))
        except GuestRefused as error:
            if error.kind != "no_browser":  # The last page takes its browser along.
                raise

    def navigate(self, tab: str, url: str, *, timeout: float = 30.0) -> None:
        self._lead(tab, url, Deadline(timeout, f"opening {url[:200]}"))

    def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
        parameters = {
            "expression": expression,
            "returnByValue": True,
            "awaitPromise": True,
            "userGesture": True,
            "timeout": timeout * 1000,  # An endless expression must not hold the page for ever.
        }
        reply = self._call(tab, "Runtime.evaluate", parameters, Deadline(timeout, "a page's answer"))
        if "exceptionDetails" in reply:
            raise GuestRefused(f"the expression threw: {_exception_text(reply['exceptionDetails'])}", kind="failed")
        result = reply.get("result", {})
        return result.get("value") if isinstance(result, dict) else None

    def content(self, tab: str) -> str:
        html = self.evaluate(tab, _CONTENT, timeout=_SLOW)
        if not isinstance(html, str):
            raise GuestRefused("the page has no document", kind="failed")
        return html

    def pdf(self, tab: str) -> bytes:
        margins = dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0)
        reply = self._call(tab, "Page.printToPDF", margins, Deadline(_SLOW, "printing a page"))
        try:
            return base64.b64decode(str(reply.get("data", "")), validate=True)
        except binascii.Error:
            raise GuestRefused("the browser returned an invalid PDF", kind="failed") from None

    def command(self, tab: str, method: str, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return self._call(tab, method, parameters, Deadline(_SLOW, method))

    def shut(self) -> None:
        for tab in list(self._sessions):
            self._drop(tab)

    def _lead(self, tab: str, url: str, deadline: Deadline) -> None:
        self._call(tab, "Page.enable", None, deadline)
        session = self._session(tab, deadline)
        session.forget()
        navigation = self._call(tab, "Page.navigate", {"url": url}, deadline)
        if navigation.get("errorText"):
            raise GuestRefused(f"{url[:200]} cannot be opened: {navigation['errorText']}", kind="failed")
        if navigation.get("loaderId"):  # Else it is another place of the same document.
            try:
                session.wait_for("Page.loadEventFired", deadline)
            except GuestRefused as error:
                raise _no_browser(error.message) if error.kind == "refused" else error from None
        self._call(tab, "Page.disable", None, deadline)

    def _call(
        self, tab: str, method: str, parameters: Mapping[str, Any] | None, deadline: Deadline
    ) -> Mapping[str, Any]:
        """Sends a command to a page, or to the browser itself if the name is empty."""
        has_session = tab in self._sessions
        try:
            return self._session(tab, deadline).call(method, parameters, deadline)
        except GuestRefused as error:
            if error.kind in {"failed", "timeout"}:
                raise
            self._drop(tab)
            # The session may belong to a browser that has been restarted since.
            if not has_session or error.kind == "too_large":
                raise _no_browser(error.message) if error.kind == "refused" else error from None
        try:
            return self._session(tab, deadline).call(method, parameters, deadline)
        except GuestRefused as error:
            raise _no_browser(error.message) if error.kind == "refused" else error from None

    def _session(self, tab: str, deadline: Deadline) -> Session:
        if tab not in self._sessions:
            path = f"/devtools/page/{_plain(tab)}" if tab else self._whole(deadline)
            self._sessions[tab] = Session(self._tunnel, path, deadline)
        return self._sessions[tab]

    def _whole(self, deadline: Deadline) -> str:
        """DevTools address of the browser itself."""
        about = self._json("/json/version", deadline)
        path = str(about.get("webSocketDebuggerUrl", "")) if isinstance(about, dict) else ""
        return f"/devtools/browser/{_plain(path.rsplit('/', 1)[-1])}"

    def _drop(self, tab: str) -> None:
        session = self._sessions.pop(tab, None)
        if session is not None:
            session.close()

    def _json(self, path: str, deadline: Deadline) -> Any:
        answer = self._ask(path, deadline)
        try:
            if answer.status == _OK:
                return json.loads(answer.body)
        except (ValueError, RecursionError):
            pass
        raise _no_browser("the server on the port is not DevTools")

    def _ask(self, path: str, deadline: Deadline) -> DevToolsAnswer:
        """Sends a request to the port that responded last, else to each; a relay may have no browser behind it."""
        ports = self.ports if self._port is None else (self._port, *self.ports)
        reason = "no port is known"
        for port in ports:
            try:
                answer = ask(lambda port=port: Tunnel(*self._where, port), "GET", path, deadline)  # type: ignore[misc]
            except GuestRefused as error:
                if error.kind != "refused":
                    raise
                reason = error.message
            else:
                self._port = port
                return answer
        self._port = None
        raise _no_browser(reason)

    def _tunnel(self) -> Tunnel:
        if self._port is None:
            self.tabs()
        return Tunnel(*self._where, self._port or self.ports[0])


def _no_browser(reason: str) -> GuestRefused:
    return GuestRefused(reason, kind="no_browser")


def _plain(name: str) -> str:
    """A page's id if it is well-formed: hexadecimal, or words with dashes."""
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 100:  # noqa: PLR2004
        raise GuestRefused(f"there is no page {name[:100]!r}", kind="not_found")
    return name


def _tab(entry: Mapping[str, Any]) -> Tab:
    return Tab(id=str(entry.get("id", "")), url=str(entry.get("url", "")), title=str(entry.get("title", "")))


def _exception_text(details: Any) -> str:
    exception = details.get("exception", {}) if isinstance(details, dict) else {}
    words = (exception.get("description") or exception.get("value")) if isinstance(exception, dict) else None
    return str(words or (details.get("text", "") if isinstance(details, dict) else ""))[:300]
