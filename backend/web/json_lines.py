"""Lists as JSON lines (`Accept: application/x-ndjson`): all items of all pages in one stream."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import request_response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message

from backend.domain.errors import Unavailable

MEDIA_TYPE = "application/x-ndjson"
PAGE_SIZE = 500


@dataclass(frozen=True)
class _Answer:
    """A whole answer of a list's route."""

    status: int
    headers: MutableHeaders
    body: bytes


def or_lines(
    answer: Callable[[Request], Coroutine[Any, Any, Response]],
) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    """A list's handler which gives lines to who asks for them."""
    page = request_response(answer)

    async def handle(request: Request) -> Response:
        if MEDIA_TYPE not in request.headers.get("accept", ""):
            return await answer(request)
        query = request.url.query
        alone = "limit" in parse_qs(query)
        first = await _get(page, request, query if alone else f"{query}&{urlencode({'limit': PAGE_SIZE})}".lstrip("&"))
        if first.status != HTTPStatus.OK:
            return Response(first.body, first.status, dict(first.headers))
        headers = {"Vary": "Accept", "Cache-Control": "private, no-store"}
        lines = _lines(page, request, json.loads(first.body), alone=alone)
        return StreamingResponse(lines, media_type=MEDIA_TYPE, headers=headers)

    return handle


async def _lines(page: ASGIApp, request: Request, items: dict[str, Any], *, alone: bool) -> AsyncGenerator[bytes]:
    """Lines of this page and, unless `alone`, of those after it. A failure breaks the stream off."""
    while True:
        yield b"".join(
            json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for item in items["items"]
        )
        if alone or not items["next"]:
            return
        following = await _get(page, request, urlsplit(items["next"]).query)
        if following.status != HTTPStatus.OK:
            raise Unavailable(f"a page of the list could not be read ({following.status})", code="database_unavailable")
        items = json.loads(following.body)


async def _get(page: Callable[..., Awaitable[None]], request: Request, query: str) -> _Answer:
    """The answer of the same route to another query, as the same caller."""
    parts: list[bytes] = []
    starts: list[Message] = []

    async def take(message: Message) -> None:
        if message["type"] == "http.response.start":
            starts.append(message)
        else:
            parts.append(message.get("body", b""))

    await page({**request.scope, "query_string": query.encode()}, request.receive, take)
    return _Answer(starts[0]["status"], MutableHeaders(raw=list(starts[0]["headers"])), b"".join(parts))
