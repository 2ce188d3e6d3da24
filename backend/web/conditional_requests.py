"""ETags of pages and API answers: who has the current one gets 304 without a body.

Source: RFC 9110, sections 8.8.3 and 13.1.2.
"""

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TAGGED = ("text/html", "text/csv", "application/json", "application/problem+json", "image/svg+xml")
CACHE = "private, no-cache"
"""Browsers keep a copy and ask at each use whether it is still current."""
_OF_304 = {"cache-control", "content-location", "date", "etag", "expires", "vary"}
"""Headers of a 304; RFC 9110, section 15.4.5."""


class ConditionalRequests:
    """Adds an ETag to each whole text answer to GET; the tag is weak, because the answer may be compressed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on; a streamed answer, and one with a tag of its own, stays as it is."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
            return
        etags = Headers(scope=scope).get("if-none-match", "")
        await self._app(scope, receive, _Tagged(send, etags))


class _Tagged:
    """`send` of one request, which holds the start of a response back until its first part is there."""

    def __init__(self, send: Send, known: str) -> None:
        self._send = send
        self._known = known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _may_have_tag(message):
            self._start = message
            return
        start, self._start = self._start, None
        if start is None:
            await self._send(message)
            return
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            message = _tag(start, message, self._known)
        await self._send(start)
        await self._send(message)


def _may_have_tag(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    media_type = headers.get("content-type", "").partition(";")[0]
    uncached = "no-store" in headers.get("cache-control", "")
    return start["status"] == 200 and media_type in TAGGED and "etag" not in headers and not uncached  # noqa: PLR2004


def _tag(start: Message, body: Message, etags: str) -> Message:
    """Adds the tag to the response; returns its body, which is empty for who has it."""
    tag = tag_of(body.get("body", b""))
    headers = MutableHeaders(raw=start["headers"])
    headers["ETag"] = tag
    headers.setdefault("Cache-Control", CACHE)
    if not is_known(tag, etags):
        return body
    start.update(not_modified(start))
    return {**body, "body": b""}


def tag_of(body: bytes) -> str:
    """The tag of an answer with this body."""
    return f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def not_modified(start: Message) -> Message:
    """The start of a 304 in place of that of the whole answer."""
    headers = [(name, value) for name, value in start["headers"] if name.decode("latin-1").lower() in _OF_304]
    return {**start, "status": 304, "headers": headers}


def is_known(tag: str, known: str) -> bool:
    """Whether `If-None-Match` lists the tag, by weak comparison.

    Args:
        tag: of the current answer.
        known: the header's value: `*`, or tags with commas between.
    """
    tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags
