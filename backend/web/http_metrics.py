"""Counts answered requests by route, method and status: the outermost middleware, which sees refusals too.

Middleware below it copies the scope, so the route is found in the state of the request, which all copies share.
"""

import logging
import time
from http import HTTPMethod

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.telemetry.logs import ACCESS
from backend.telemetry.metrics import HTTP_OPEN, HTTP_REQUESTS, HTTP_SECONDS, OTHER, SOCKETS_OPEN

UNMATCHED = "(none)"
"""Stands for requests that reached no route: unknown addresses, refusals."""
TEMPLATE = "route_template"
"""Key in the state of a request: path of its route, with names of parameters."""
_METHODS = frozenset(HTTPMethod)
_STREAM = b"text/event-stream"
access = logging.getLogger(ACCESS)


class HttpMetrics:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on and counts its answer."""
        if scope["type"] == "websocket":
            with SOCKETS_OPEN.track_inprogress():
                await self._app(scope, receive, send)
        elif scope["type"] == "http":
            with HTTP_OPEN.track_inprogress():
                await self._count(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _count(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})
        began, status, stream = time.perf_counter(), 500, False

        async def noting(message: Message) -> None:
            nonlocal status, stream
            if message["type"] == "http.response.start":
                status = message["status"]
                stream = any(
                    name == b"content-type" and value.startswith(_STREAM) for name, value in message.get("headers", ())
                )
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route, method = route_of(scope), method_of(scope)
            HTTP_REQUESTS.labels(route, method, status).inc()
            if not stream:
                HTTP_SECONDS.labels(route, method).observe(time.perf_counter() - began)
            _log(route, method, status, time.perf_counter() - began)


def route_of(scope: Scope) -> str:
    """Template of the route that a request has reached."""
    return str(scope["state"].get(TEMPLATE) or getattr(scope.get("route"), "path", "") or UNMATCHED)


def method_of(scope: Scope) -> str:
    """The method of a request, if it is one of HTTP's."""
    return scope["method"] if scope["method"] in _METHODS else OTHER


def _log(route: str, method: str, status: int, seconds: float) -> None:
    if access.isEnabledFor(logging.INFO):
        extra = {"method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
        access.info("%s %s: %d", method, route, status, extra=extra)
