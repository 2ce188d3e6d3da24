"""A span for each request, named by its route.

A caller's `traceparent` becomes a link, never a parent. Otherwise everybody who may send requests could choose the ids
of traces, join others' traces and have everything sampled.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.telemetry import tracing
from backend.telemetry.logs import current_ids
from backend.web.http_metrics import method_of, route_of

UNTRACED = ("/static/", "/docs/", "/healthz", "/livez", "/readyz", "/metrics")
"""Beginnings of paths that are asked often and tell nothing."""
FAILED = 500
"""Statuses from here on are failures of this service."""


class RequestTraces:
    """ASGI middleware; see the module. Websockets have no span: they live as long as a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if not tracing.is_on() or scope["type"] != "http" or scope["path"].startswith(UNTRACED):
            await self._app(scope, receive, send)
            return
        caller = Headers(scope=scope).get("traceparent", "")
        links = [caller] if tracing.is_traceparent(caller) else []
        scope.setdefault("state", {})
        method = method_of(scope)
        with tracing.span(method, {"http.request.method": method}, kind="server", parent="", links=links) as span:

            async def answer(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set({"http.response.status_code": message["status"]})
                    if message["status"] >= FAILED:
                        span.fail(str(message["status"]))
                await send(message)

            try:
                await self._app(scope, receive, answer)
            finally:
                route = route_of(scope)
                span.rename(f"{method} {route}")
                span.set({"http.route": route, "deskarena.request.id": current_ids().get("request_id")})
