"""Security middleware in front of everything: Host, Origin, who asks, body size, and the headers of every response.

Plain ASGI, so that it covers HTTP, websockets and static files alike and never buffers a body.
"""

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from typing import Any, Protocol
from urllib.parse import parse_qs, quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.addresses import API, EMBED_PATH, JOIN_PATH, PUBLIC_PATH
from backend.domain.errors import DeskarenaError, NotAllowed, Unavailable
from backend.services.accounts.principal import LOCAL, NOBODY, SERVICE, Principal, acting_as
from backend.services.accounts.stream_tickets import is_stream
from backend.web.allowed_hosts import KnownHosts
from backend.web.errors import TooLarge, problem_response, refusal_page
from backend.web.headers import headers_of

COOKIE = "deskarena_session"
PROJECT_COOKIE = "deskarena_project"
"""Cookie with the name of the project that a browser shows."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
EXCHANGE_PATH = f"{API}/id-token-exchange"
"""Where jobs of CI systems show an id token, which is checked there."""
OPEN_PATHS = (
    *("/healthz", "/livez", "/readyz", "/status", f"{API}/status", "/login", "/static/", "/favicon.ico"),
    *(EXCHANGE_PATH, JOIN_PATH, PUBLIC_PATH, EMBED_PATH),
)
"""Beginnings of paths that need no token. Below the last three, the pages check that of a link."""
UNNAMED = ("/healthz", "/livez", "/readyz", "/status", f"{API}/status", "/static/", "/favicon.ico")
"""Beginnings of paths where it does not matter who asks."""
AGENT_PATH = f"{API}/agent"
"""Below it, programs use the token of their episode, which the endpoints check."""
SIGNAL_PATHS = ("/metrics", f"{API}/signals")
"""Paths for the metrics token, which allows nothing else."""
RECHECK_SECONDS = 15.0
"""Interval at which an open websocket checks that its session or token is still in force."""
BODY_LIMIT = 2**20
UPLOAD_LIMIT = 512 * 2**20


class TokenNeeded(NotAllowed):
    """No session or token, or a wrong one (401)."""

    status = 401
    code = "token_required"


def session_value(token: str) -> str:
    """Value of the browser's cookie: proof of the token, not the token itself."""
    return hmac.new(token.encode(), b"deskarena browser session", hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Credentials:
    """Credentials in a request.

    Attributes:
        cookie: of a session.
        bearer: token of the header `Authorization`.
        project: name of the project that it is about: of the header `Deskarena-Project`, else of a cookie.
        strict: the header names it.
        service: it has the installation's token.
        session_hash, token_hash: SHA-256 (hex) of the cookie or token that a stream's ticket stands for.
    """

    cookie: str
    bearer: str
    project: str
    strict: bool
    service: bool
    session_hash: str = ""
    token_hash: str = ""

    @property
    def present(self) -> bool:
        """Whether there are any."""
        return bool(self.cookie or self.bearer or self.session_hash or self.token_hash or self.service)


class Identification(Protocol):
    """Finds out who makes a request."""

    async def principal(self, credentials: Credentials, *, only_reads: bool) -> Principal | None:
        """The principal of a session or token; None if it is not in force. Raises Unavailable."""

    def forget(self) -> None:
        """Forgets what is known: something has changed."""


class SecurityMiddleware:
    """Passes on permitted requests; see the module."""

    def __init__(  # noqa: PLR0913 - one keyword per setting
        self,
        app: ASGIApp,
        *,
        hosts: KnownHosts,
        token: Callable[[], str] = str,
        sign_in: Identification | None = None,
        redeem: Callable[[str, str], Awaitable[Credentials | None]] | None = None,
        metrics_token: Callable[[], str] = str,
        embed_origins: Sequence[str] = (),
    ) -> None:
        self._app = app
        self._embed_origins = embed_origins
        self._hosts = hosts
        self._token = token
        self._sign_in = sign_in
        self._redeem = redeem
        self._metrics_token = metrics_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Checks one request or one websocket's opening."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        own = headers_of(scope["path"], self._embed_origins)
        answer = _with_headers(send, own) if scope["type"] == "http" else send
        headers = Headers(scope=scope)
        try:
            self._check(scope, headers)
            credentials = await self._credentials(scope, headers)
            principal = await self._principal(scope, credentials)
            body = _limit(scope, headers, receive)
        except DeskarenaError as error:
            await self._refuse(error, scope, receive, answer)
            return
        principal = principal.seen_from((scope.get("client") or ("",))[0])
        scope.setdefault("state", {}).update(principal=principal, credentials=credentials)
        if scope["type"] == "websocket" and self._sign_in:
            answer = self._while_signed_in(scope, credentials, principal, send)
        elif self._sign_in and not _only_reads(scope) and not _is_agents(scope["path"]):
            answer = _after(self._sign_in.forget, answer)
        if scope["path"].startswith((PUBLIC_PATH, EMBED_PATH)):  # Their links say which project they show.
            principal = replace(principal, project_id=None)
        with acting_as(principal):
            await self._app(scope, body, answer)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._hosts.knows(host):
            raise NotAllowed(
                f"this service does not answer for the host {host!r}",
                code="host_not_allowed",
                hint="Open it by its own address, or add the name to DESKARENA_ALLOWED_HOSTS.",
            )
        if self._foreign(scope, headers, host):
            raise NotAllowed(
                "a page of another site may not do this",
                code="origin_not_allowed",
                hint="Use Deskarena's own pages.",
            )

    async def _credentials(self, scope: Scope, headers: Headers) -> Credentials:
        """Credentials of a request; a ticket in a stream's address stands for those it was made with.

        Raises:
            TokenNeeded: the ticket opens nothing here, or was used.
        """
        ticket = _ticket(scope) if self._redeem and (self._token() or self._sign_in) else ""
        if not ticket or self._redeem is None:
            return _credentials(headers, service=self._has_token(headers))
        credentials = await self._redeem(ticket, scope["path"])
        if credentials is None:
            raise TokenNeeded(
                "this ticket is not valid here: it is for another path, was used, or has expired",
                code="ticket_invalid",
                hint=f"Ask for another one: POST {API}/stream-tickets.",
            )
        return credentials

    async def _principal(self, scope: Scope, credentials: Credentials) -> Principal:
        """The principal: the signed-in person, or a program with the token. Raises TokenNeeded."""
        if not self._token() and self._sign_in is None:
            return LOCAL
        if self._has_metrics_token(Headers(scope=scope), scope["path"]):
            return SERVICE
        if credentials.service and self._sign_in is None:
            return LOCAL
        if self._sign_in and credentials.present and not scope["path"].startswith(UNNAMED):
            principal = await self._sign_in.principal(credentials, only_reads=_only_reads(scope))
            if principal:
                return principal
        if is_open(scope["path"]):
            return NOBODY
        if self._sign_in:
            raise TokenNeeded("nobody is signed in", code="sign_in_required", hint="Sign in at /login.")
        raise TokenNeeded("this service needs its token", hint="Send it as 'Authorization: Bearer TOKEN'.")

    def _while_signed_in(self, scope: Scope, credentials: Credentials, opened_by: Principal, send: Send) -> Send:
        """`send` of a websocket, which closes it when its session, token or role has ended; a beat comes every 15 s."""
        checked = time.monotonic()

        async def answer(message: Message) -> None:
            nonlocal checked
            if message["type"] == "websocket.send" and time.monotonic() - checked >= RECHECK_SECONDS:
                checked = time.monotonic()
                try:
                    gone = not (await self._principal(scope, credentials)).may_keep_open(opened_by)
                except TokenNeeded:
                    gone = True
                except Unavailable:
                    gone = False
                if gone:
                    await send({"type": "websocket.close", "code": 1008, "reason": "nobody is signed in"})
                    raise OSError("the session of this websocket has ended")  # Like a client that went away.
            await send(message)

        return answer

    def _foreign(self, scope: Scope, headers: Headers, host: str) -> bool:
        """True if a browser reports that another site's page makes a request reserved for our pages."""
        guarded = (
            scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS or scope["path"].startswith("/api/")
        )
        if not guarded:
            return False
        origin = headers.get("origin")
        if origin is not None:
            return not self._hosts.same_origin(origin, host)
        return headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}

    def _has_metrics_token(self, headers: Headers, path: str) -> bool:
        token = self._metrics_token() if path in SIGNAL_PATHS else ""
        return bool(token) and hmac.compare_digest(_bearer(headers).encode(), token.encode())

    def _has_token(self, headers: Headers) -> bool:
        token = self._token()
        if not token:
            return False
        if (bearer := _bearer(headers)) or headers.get("authorization", "").lower().startswith("bearer"):
            return hmac.compare_digest(bearer.encode(), token.encode())
        if self._sign_in:  # The token is for programs; people have sessions.
            return False
        return hmac.compare_digest(_cookie(headers).encode(), session_value(token).encode())

    async def _refuse(self, error: DeskarenaError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Before the handshake is accepted, so no stream ever opens.
            if "websocket.http.response" in scope.get("extensions", {}):
                await problem_response(error)(scope, receive, send)
                return
            await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
            return
        wants_page = "text/html" in Headers(scope=scope).get("accept", "") and scope["method"] == "GET"
        if isinstance(error, TokenNeeded) and wants_page and not scope["path"].startswith("/api/"):
            back = scope["path"] + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
            start = {"type": "http.response.start", "status": 303}
            await send({**start, "headers": [(b"location", f"/login?next={quote(back)}".encode())]})
            await send({"type": "http.response.body", "body": b""})
            return
        as_page = wants_page and not scope["path"].startswith(("/api/", "/static/"))
        response = refusal_page(error) if as_page else problem_response(error)
        if isinstance(error, TokenNeeded):
            response.headers["WWW-Authenticate"] = 'Bearer realm="deskarena"'
        await response(scope, receive, send)


def is_open(path: str) -> bool:
    """Whether the path needs no token."""
    return path.startswith(OPEN_PATHS) or _is_agents(path)


def _is_agents(path: str) -> bool:
    return path == AGENT_PATH or path.startswith(f"{AGENT_PATH}/")


def _only_reads(scope: Scope) -> bool:
    """Whether a request changes nothing. A provider's answer to a sign-in comes by GET, and ends a session."""
    return scope["type"] == "http" and scope["method"] in SAFE_METHODS and not scope["path"].startswith("/login")


def _after(work: Callable[[], None], send: Send) -> Send:
    """`send` that does something when an answer is ready, which confirms what was committed."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            work()
        await send(message)

    return answer


def _credentials(headers: Headers, *, service: bool) -> Credentials:
    header = headers.get("deskarena-project", "")
    project = header or unquote(_cookie(headers, PROJECT_COOKIE))
    return Credentials(_cookie(headers), _bearer(headers), project[:200], strict=bool(header), service=service)


def _ticket(scope: Scope) -> str:
    """The ticket in the address of a stream."""
    if not is_stream(scope["path"]):
        return ""
    query: bytes = scope["query_string"]
    return parse_qs(query.decode("latin-1")).get("ticket", [""])[-1]


def _bearer(headers: Headers) -> str:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    return credentials.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers, name: str = COOKIE) -> str:
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return jar[name].value if name in jar else ""


def _with_headers(send: Send, own: Mapping[str, str]) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in own.items():
                headers.setdefault(name, value)
        await send(message)

    return answer


def takes_files(path: str) -> bool:
    """Whether a path takes files, and so a larger body."""
    draft = path.startswith((f"{API}/drafts/", "/tasks/drafts/")) and path.endswith("/files")
    return draft or path.startswith((f"{API}/benchmarks", f"{API}/demonstrations", "/demonstrations"))


def _limit(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """`receive` with a limit: a larger body is rejected, whatever its Content-Length."""
    if scope["type"] != "http":
        return receive
    limit = UPLOAD_LIMIT if takes_files(scope["path"]) else BODY_LIMIT
    stated = headers.get("content-length", "")
    message = f"the request is larger than {limit // 2**20} MiB"
    if stated.isdigit() and int(stated) > limit:
        raise TooLarge(message)
    size = 0

    async def read() -> dict[str, Any]:
        nonlocal size
        part = await receive()
        size += len(part.get("body", b""))
        if size > limit:
            # FastAPI passes this one on while it reads a body; any other would become a malformed body (400).
            raise HTTPException(TooLarge.status, message)
        return dict(part)

    return read
