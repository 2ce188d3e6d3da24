"""Security middleware in front of everything: Host, Origin, who asks, body size, and the headers of every response.

Plain ASGI, so that it covers HTTP, websockets and static files alike and never buffers a body.
"""

import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.addresses import API, EMBED_PATH, JOIN_PATH, PUBLIC_PATH
from backend.domain.errors import DeskarenaError, NotAllowed, Unavailable
from backend.services.accounts.principal import LOCAL, NOBODY, Principal, acting_as
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
    *("/healthz", "/livez", "/readyz", "/login", "/static/", "/favicon.ico"),
    *(EXCHANGE_PATH, JOIN_PATH, PUBLIC_PATH, EMBED_PATH),
)
"""Beginnings of paths that need no token. Below the last three, the pages check that of a link."""
UNNAMED = ("/healthz", "/livez", "/readyz", "/static/", "/favicon.ico")
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
    """What a request shows of who makes it.

    Attributes:
        cookie: of a session.
        bearer: token of the header `Authorization`.
        project: name of the project that it is about: of the header `Deskarena-Project`, else of a cookie.
        strict: the header names it.
        service: it has the installation's token.
    """

    cookie: str
    bearer: str
    project: str
    strict: bool
    service: bool

    @property
    def present(self) -> bool:
        """Whether there are any."""
        return bool(self.cookie or self.bearer)


class SecurityMiddleware:
    """Passes on permitted requests; see the module."""

    def __init__(  # noqa: PLR0913 - one keyword per setting
        self,
        app: ASGIApp,
        *,
        hosts: KnownHosts,
        token: str | None,
        sign_in: Callable[[Credentials], Awaitable[Principal | None]] | None = None,
        metrics_token: str = "",
        embed_origins: Sequence[str] = (),
    ) -> None:
        self._app = app
        self._embed_origins = embed_origins
        self._hosts = hosts
        self._token = token
        self._sign_in = sign_in
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
            principal = await self._principal(scope, headers)
            body = _bounded(scope, headers, receive)
        except DeskarenaError as error:
            await self._refuse(error, scope, receive, answer)
            return
        principal = principal.seen_from((scope.get("client") or ("",))[0])
        scope.setdefault("state", {})["principal"] = principal
        if scope["type"] == "websocket" and self._sign_in:
            answer = self._while_signed_in(scope, headers, send)
        if scope["path"].startswith((PUBLIC_PATH, EMBED_PATH)):  # Their links say which project they show.
            principal = replace(principal, project_id=None)
        with acting_as(principal):
            await self._app(scope, body, answer)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._hosts.knows(host):
            raise NotAllowed(
                f"this service does not answer to the name {host!r}",
                code="host_not_allowed",
                hint="Open it by its own address, or add the name to DESKARENA_ALLOWED_HOSTS.",
            )
        if self._foreign(scope, headers, host):
            raise NotAllowed(
                "a page of another site may not do this",
                code="origin_not_allowed",
                hint="Open Deskarena itself and do it there.",
            )

    async def _principal(self, scope: Scope, headers: Headers) -> Principal:
        """Who asks: the person who is signed in, or a program with the token. Raises TokenNeeded."""
        if not self._token and self._sign_in is None:
            return LOCAL
        has_token = bool(self._token) and self._has_token(headers, scope["path"])
        if has_token and self._sign_in is None:
            return LOCAL
        if self._sign_in and not scope["path"].startswith(UNNAMED):
            credentials = _credentials(headers, service=has_token)
            if credentials.present and (principal := await self._sign_in(credentials)):
                return principal
        if is_open(scope["path"]):
            return NOBODY
        if self._sign_in:
            raise TokenNeeded("nobody is signed in", code="sign_in_required", hint="Sign in at /login.")
        raise TokenNeeded("this service needs its token", hint="Send it as 'Authorization: Bearer TOKEN'.")

    def _while_signed_in(self, scope: Scope, headers: Headers, send: Send) -> Send:
        """`send` of a websocket, which closes it when its session or token has ended. Pages get a beat every 15 s."""
        checked = time.monotonic()

        async def answer(message: Message) -> None:
            nonlocal checked
            if message["type"] == "websocket.send" and time.monotonic() - checked >= RECHECK_SECONDS:
                checked = time.monotonic()
                try:
                    gone = (await self._principal(scope, headers)).role is None
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

    def _has_token(self, headers: Headers, path: str) -> bool:
        token = self._token or ""
        if (bearer := _bearer(headers)) or headers.get("authorization", "").lower().startswith("bearer"):
            shown, looks = bearer.encode(), path in SIGNAL_PATHS and self._metrics_token
            if looks and hmac.compare_digest(shown, self._metrics_token.encode()):
                return True
            return hmac.compare_digest(shown, token.encode())
        if self._sign_in:  # The token is for programs; people have sessions.
            return False
        return hmac.compare_digest(_cookie(headers).encode(), session_value(token).encode())

    async def _refuse(self, error: DeskarenaError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Before the handshake is accepted this becomes an HTTP 403, so no stream ever opens.
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
    return path.startswith(OPEN_PATHS) or path == AGENT_PATH or path.startswith(f"{AGENT_PATH}/")


def _credentials(headers: Headers, *, service: bool) -> Credentials:
    header = headers.get("deskarena-project", "")
    project = header or unquote(_cookie(headers, PROJECT_COOKIE))
    return Credentials(_cookie(headers), _bearer(headers), project[:200], strict=bool(header), service=service)


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


def _takes_files(path: str) -> bool:
    draft = path.startswith((f"{API}/drafts/", "/tasks/drafts/")) and path.endswith("/files")
    return draft or path.startswith(f"{API}/benchmarks")


def _bounded(scope: Scope, headers: Headers, receive: Receive) -> Receive:
    """`receive` with a limit: a larger body is rejected, whatever its Content-Length."""
    if scope["type"] != "http":
        return receive
    limit = UPLOAD_LIMIT if _takes_files(scope["path"]) else BODY_LIMIT
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
