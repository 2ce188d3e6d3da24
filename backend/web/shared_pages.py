"""A page that many readers want is computed once, for as long as nothing in the database has changed.

Each request first asks the database for the name of what is committed (`committed_state`), all that arrive at once with
one statement. A page may be sent again while that name is the same: a reader sees every change that was committed
before the request, by whichever process. What is not in the database (prices in a file, the clock) may be
`SHARED_SECONDS` old.

Boards take longest to compute, and what workers commit all the time, such as steps, changes nothing on them. Their name
is that of `board_state`: what people did and what roll-ups there are. Anything else may be `SHARED_SECONDS` old there.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.addresses import API
from backend.db.session import SessionFactory, committed_state
from backend.domain.errors import Unavailable
from backend.services.results.leaderboards import board_state
from backend.web.conditional_requests import is_known, not_modified
from backend.web.http_metrics import TEMPLATE
from backend.web.per_loop import PerLoop

SHARED_SECONDS = 1.0
"""How long a page is sent again."""
BOARDS = "/leaderboards/"
MOST_PAGES, MOST_BYTES = 64, 2**20
"""Pages that are kept, and bytes of one, as sent."""
UNSHARED = (f"{API}/", "/static/", "/docs/", "/artifacts/", "/healthz", "/livez", "/readyz", "/metrics")
"""Beginnings of addresses without pages."""
ALONE = "*"
"""`Vary` of an answer that belongs to one request only; RFC 9110, section 12.5.5."""
_executor = ThreadPoolExecutor(1, "committed-state")
Key = tuple[object, ...]
StateReader = Callable[[SessionFactory], str]
"""Reads the name of what is committed."""


@dataclass(frozen=True)
class SharedPage:
    """A whole answer, as it was sent; `until` by the monotonic clock, `template` is the path of its route."""

    state: str
    until: float
    start: Message
    body: bytes
    template: str
    board: bool = False


class _Readings:
    """The running statement, and the one that new callers wait for."""

    def __init__(self) -> None:
        self.current: asyncio.Task[str | None] | None = None
        self.next: asyncio.Task[str | None] | None = None


class _LoopState:
    """State shared by the requests of an event loop."""

    def __init__(self) -> None:
        self.pages: dict[Key, SharedPage] = {}
        self.computing: dict[tuple[Key, str], asyncio.Future[SharedPage | None]] = {}
        self.readings: defaultdict[StateReader, _Readings] = defaultdict(_Readings)


class PageStore:
    """The shared pages of one installation."""

    def __init__(self, factory: SessionFactory, now: Callable[[], float] = time.monotonic) -> None:
        self._factory = factory
        self.now = now
        self._loops = PerLoop(_LoopState)

    @property
    def loop(self) -> _LoopState:
        return self._loops.get()

    async def state(self, read: StateReader = committed_state) -> str | None:
        """Name of what is committed now; None without a database.

        A statement that has begun already may have missed a commit: who comes later waits for the next one.
        """
        readings = self.loop.readings[read]
        if readings.next is None:
            readings.next = asyncio.create_task(self._read(read, readings, readings.current))
        return await asyncio.shield(readings.next)

    async def _read(
        self, read: StateReader, readings: _Readings, earlier: asyncio.Task[str | None] | None
    ) -> str | None:
        if earlier is not None:
            await asyncio.wait([earlier])
        readings.current, readings.next = readings.next, None
        try:
            return await asyncio.get_running_loop().run_in_executor(_executor, read, self._factory)
        except SQLAlchemyError:
            return None

    def find(self, key: Key, state: str) -> SharedPage | None:
        """The page, if it is current; that of a board, too, while somebody has it computed again."""
        page = self.loop.pages.get(key)
        if page is None or page.state != state:
            return None
        return page if self.now() < page.until or (page.board and (key, state) in self.loop.computing) else None

    def keep(self, key: Key, page: SharedPage) -> None:
        """Keeps a page in place of the oldest one."""
        pages = self.loop.pages
        pages.pop(key, None)
        while len(pages) >= MOST_PAGES:
            del pages[next(iter(pages))]
        pages[key] = page


class SharedPages:
    """ASGI middleware: sends shared pages, and has others computed once for all who wait for them."""

    def __init__(self, app: ASGIApp, stored: Callable[[], PageStore]) -> None:
        """`stored`: returns the shared pages; raises Unavailable if no database is configured."""
        self._app = app
        self._stored = stored

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request with a shared page if there is one."""
        store = self._store() if _wants_page(scope) else None
        state = await store.state(board_state if _is_board(scope) else committed_state) if store is not None else None
        if store is None or state is None:
            await self._app(scope, receive, send)
            return
        key = _key(scope)
        page = store.find(key, state)
        if page is None and (waiting := store.loop.computing.get((key, state))) is not None:
            page = await asyncio.shield(waiting)
            if page is None:
                await self._app(scope, receive, send)
                return
        if page is None:
            await self._compute(store, (key, state), scope, receive, send)
        else:
            await _send_page(page, scope, send)

    def _store(self) -> PageStore | None:
        try:
            return self._stored()
        except Unavailable:
            return None

    async def _compute(
        self, store: PageStore, key: tuple[Key, str], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Has the application answer, and everybody who asks meanwhile wait for it."""
        computing, page = store.loop.computing, None
        waiting = computing[key] = asyncio.get_running_loop().create_future()
        recorder = _Recorder(_tags_sent(scope), send, unshared=lambda: _settle(waiting, None))
        # The whole page is needed, whatever this reader has.
        headers = [pair for pair in scope["headers"] if pair[0] != b"if-none-match"]
        try:
            await self._app({**scope, "headers": headers}, receive, recorder)
            if recorder.start is not None:
                template, until = scope["state"].get(TEMPLATE, ""), store.now() + SHARED_SECONDS
                page = SharedPage(key[1], until, recorder.start, bytes(recorder.body), template, _is_board(scope))
                store.keep(key[0], page)
        finally:
            del computing[key]
            _settle(waiting, page)
        if page is not None:
            await _send_page(page, scope, send)


class _Recorder:
    """`send` of one request: holds a page back until it is whole, and passes everything else on.

    Attributes:
        start: of the page; None if the answer cannot be shared.
    """

    def __init__(self, known: str, send: Send, *, unshared: Callable[[], None]) -> None:
        self.start: Message | None = None
        self.body = bytearray()
        self._known = known
        self._send = send
        self._unshared = unshared
        self._dropped = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_shared(message):
            self.start = message
        elif message["type"] == "http.response.start":
            await self._pass_start(message)
        elif self.start is None:
            await self._send({**message, "body": b""} if self._dropped else message)
        else:
            self.body += message.get("body", b"")
            if len(self.body) > MOST_BYTES:
                start, self.start = self.start, None
                await self._pass_start(start)
                await self._send({**message, "body": b"" if self._dropped else bytes(self.body)})

    async def _pass_start(self, start: Message) -> None:
        self._unshared()
        tag = Headers(raw=start["headers"]).get("etag", "")
        self._dropped = bool(tag) and start["status"] == 200 and is_known(tag, self._known)  # noqa: PLR2004 - HTTP
        await self._send(not_modified(start) if self._dropped else start)


def _settle(waiting: asyncio.Future[SharedPage | None], page: SharedPage | None) -> None:
    if not waiting.done():
        waiting.set_result(page)


def _wants_page(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(UNSHARED):
        return False
    headers = Headers(scope=scope)
    return "text/html" in headers.get("accept", "") and "no-cache" not in headers.get("cache-control", "")


def _is_board(scope: Scope) -> bool:
    return str(scope["path"]).startswith(BOARDS)


def _key(scope: Scope) -> Key:
    """All of a request that a page may depend on."""
    headers = Headers(scope=scope)
    names = ("host", "cookie", "authorization", "accept", "accept-encoding")
    address = (scope["scheme"], scope.get("root_path", ""), scope["path"], scope["query_string"])
    # Who asks, wherever from: with a role, which may change during a session.
    principal = scope["state"]["principal"].seen_from("")
    return (principal, *address, *(headers.get(name, "") for name in names))


def _tags_sent(scope: Scope) -> str:
    return Headers(scope=scope).get("if-none-match", "")


def _is_shared(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    page = start["status"] == 200 and headers.get("content-type", "").startswith("text/html")  # noqa: PLR2004 - HTTP
    own = "set-cookie" in headers or ALONE in headers.get("vary", "") or "no-store" in headers.get("cache-control", "")
    return page and not own


async def _send_page(page: SharedPage, scope: Scope, send: Send) -> None:
    tag = Headers(raw=page.start["headers"]).get("etag", "")
    fresh = bool(tag) and is_known(tag, _tags_sent(scope))
    scope["state"][TEMPLATE] = page.template
    # Copies: what is outside adds its own headers.
    start = not_modified(page.start) if fresh else page.start
    await send({**start, "headers": list(start["headers"])})
    await send({"type": "http.response.body", "body": b"" if fresh else page.body})
