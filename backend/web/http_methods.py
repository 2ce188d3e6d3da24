"""HEAD for every address that has GET, and OPTIONS for every address."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NO_METHOD = 405


class _HeadAnsweredError(OSError):
    """The head is sent: what would follow is not needed."""


class HttpMethods:
    """ASGI middleware: HEAD is GET without its body, OPTIONS names the methods."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        method = scope.get("method")
        if method == "HEAD":
            await self._head(scope, receive, send)
        elif method == "OPTIONS":
            await self._app(scope, receive, _Options(send))
        else:
            await self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = False

        async def without_body(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                await send(message)
            elif not answered:
                answered = True
                await send({"type": "http.response.body", "body": b""})
                if message.get("more_body", False):
                    raise _HeadAnsweredError

        try:
            await self._app({**scope, "method": "GET"}, receive, without_body)
        except (_HeadAnsweredError, ClientDisconnect):
            if not answered:
                raise


class _Options:
    """`send` of an OPTIONS request: the routes' 405, which names the methods, becomes a 204."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._named = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == _NO_METHOD:
            self._named = True
            headers = MutableHeaders()
            for name, value in Headers(raw=message["headers"]).items():
                if not name.startswith("content-"):
                    headers.append(name, value)
            message = {**message, "status": 204, "headers": headers.raw}
        elif self._named:
            message = {**message, "body": b""}
        await self._send(message)
