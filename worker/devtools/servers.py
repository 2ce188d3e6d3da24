"""Servers inside one desktop: its browsers, and programs that speak HTTP."""

import time
from collections.abc import Callable, Mapping

from backend.domain.ports.desktop import OpenDesktop
from backend.domain.ports.web import Browser, WebReply
from worker.devtools.browser import DevToolsBrowser
from worker.devtools.http import ask
from worker.devtools.tunnel import Deadline, Tunnel

PUBLISHED, BEHIND = 9222, 1337
"""Published tasks start the browser on 1337 and relay 9222 to it, because a browser listens for its own machine only.
The tunnel needs no relay, so a task with a missing or late relay still reaches the browser.
"""
_SECONDS = 30.0


def devtools(opened: OpenDesktop, port: int) -> DevToolsBrowser:
    """The browser that listens on that port of a desktop."""
    address, secret = opened.stream_address()
    return DevToolsBrowser(address, secret, (port, BEHIND) if port == PUBLISHED else (port,))


class Servers:
    """Servers inside one desktop. Browsers are connected on first use."""

    def __init__(self, opened: OpenDesktop, make: Callable[[OpenDesktop, int], Browser] = devtools) -> None:
        self._opened = opened
        self._make = make
        self._browsers: dict[int, Browser] = {}

    def http(self, port: int, path: str, headers: Mapping[str, str] | None) -> WebReply:
        """Sends GET to a program on that port. See SetupContext."""
        where = self._opened.stream_address()
        reply = ask(lambda: Tunnel(*where, port), "GET", path, Deadline(_SECONDS, f"port {port}"), headers=headers)
        url = f"http://127.0.0.1:{port}{path}"
        return WebReply(url=url, status=reply.status, headers=reply.headers, body=reply.body, fetched_at=time.time())

    def browser(self, port: int) -> Browser:
        """The browser on that port."""
        if port not in self._browsers:
            self._browsers[port] = self._make(self._opened, port)
        return self._browsers[port]

    def close(self) -> None:
        """Closes all of them. Safe to call twice."""
        while self._browsers:
            self._browsers.popitem()[1].shut()
