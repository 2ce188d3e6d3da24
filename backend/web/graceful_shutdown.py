"""Graceful shutdown without failed requests: finishes running ones and redirects new ones."""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ELSEWHERE = b"deskarena-elsewhere"
"""Header by which a proxy announces that it retries a 429 on another server, whatever the method."""
ALWAYS_ANSWERED = frozenset({"/healthz", "/livez", "/readyz"})
REFUSED = b"This process ends; ask another.\n"


class ShutdownState:
    """Whether this process is shutting down. Read by probes and by `GracefulShutdownMiddleware`."""

    def __init__(self) -> None:
        self.draining = False


class GracefulShutdownMiddleware:
    """Before the end, refuses new requests that a proxy can retry elsewhere, and closes idle connections.

    A refused request was not started, so nothing is done twice. Without such a proxy, requests are served until the
    end. Plain ASGI, outermost.
    """

    def __init__(self, app: ASGIApp, is_draining: Callable[[], bool]) -> None:
        self._app = app
        self._is_draining = is_draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request or one websocket's opening."""
        if scope["type"] not in {"http", "websocket"} or not self._is_draining():
            await self._app(scope, receive, send)
        elif scope["path"] in ALWAYS_ANSWERED or not _has_elsewhere(scope):
            await self._app(scope, receive, _closing(send))
        elif scope["type"] == "websocket":
            await _refuse(scope, send, "websocket.http.response")
        else:
            await _refuse(scope, _closing(send), "http.response")


def _has_elsewhere(scope: Scope) -> bool:
    return any(name == ELSEWHERE for name, _ in scope["headers"])


async def _refuse(scope: Scope, send: Send, kind: str) -> None:
    """Refuses with 429 in the protocol's form; a websocket server without it refuses with 403."""
    if kind.startswith("websocket") and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1012})
        return
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(REFUSED)).encode())]
    await send({"type": f"{kind}.start", "status": 429, "headers": [*headers, (b"retry-after", b"1")]})
    await send({"type": f"{kind}.body", "body": REFUSED})


def _closing(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
        await send(message)

    return answer
