"""An id for each request: in its log, and in `X-Request-ID` of its answer."""

from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.telemetry.logs import is_request_id, log_ids

HEADER = "X-Request-ID"


class RequestIds:
    """ASGI middleware: binds the client's id, if it is fit (`is_request_id`), else a new one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get(HEADER, "")
        request_id = offered if is_request_id(offered) else uuid4().hex

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with log_ids(request_id=request_id):
            await self._app(scope, receive, answer)
