"""Behind a reverse proxy: below a path of another site, and with what trusted proxies say of the request.

Everything inside speaks of paths of the service (`/runs`). At its edge, `SubPathMiddleware` takes the path of the
installation (`DESKARENA_ROOT_PATH`, such as `/tools/deskarena`) off what comes in, and `SubPath` puts it before what
goes out: addresses in pages, redirects, paths of cookies. A proxy may pass the path on or take it off itself.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit, urlunsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from backend.domain.errors import Invalid

_SOCKETS = "ws"
_ATTRIBUTES = r"href|src|action|formaction|poster|data-[a-z-]+"


def first_segments(paths: Iterable[str]) -> frozenset[str]:
    """First parts of the service's own paths: `runs` of `/runs/{run_id}`."""
    names = (path.lstrip("/").partition("/")[0] for path in paths)
    return frozenset(name for name in names if name and "{" not in name)


class SubPath:
    """The path below which the service is reached; empty if it has a site of its own.

    Args:
        root: such as `/tools/deskarena`, with or without a slash at its end.
        segments: first parts of the service's paths, by which addresses in pages are recognised.

    Raises:
        Invalid: `root` could not be told from a page of the service.
    """

    def __init__(self, root: str, segments: Iterable[str]) -> None:
        self.root = root.rstrip("/")
        names = sorted(segments)
        if self.root and self.root.split("/")[1] in names:
            raise Invalid(
                f"{self.root} is a page of the service itself",
                code="invalid_root_path",
                path="DESKARENA_ROOT_PATH",
                hint="Choose another path, such as /deskarena.",
            )
        prefixes = "|".join(re.escape(name) for name in names if name != _SOCKETS)
        self._addresses = re.compile(rf'(?<=\s)((?:{_ATTRIBUTES})=")(?=/(?:[?#"]|(?:{prefixes})[/?#"]))')

    def address(self, path: str) -> str:
        """A path of the service as browsers see it."""
        return f"{self.root}{path}"

    def inside(self, path: str) -> str:
        """A path that browsers see, as one of the service."""
        if self.root and (path == self.root or path.startswith(f"{self.root}/")):
            return path[len(self.root) :] or "/"
        return path

    def page(self, text: str) -> str:
        """HTML with the root before each address of the service. Sockets get it where they are opened."""
        return self._addresses.sub(rf"\g<1>{self.root}", text) if self.root else text

    def location(self, value: str, host: str) -> str:
        """A `Location` header: a path, or an address of `host`, with the root."""
        parts = urlsplit(value)
        if not self.root or (parts.netloc and parts.netloc != host) or not parts.path.startswith("/"):
            return value
        return urlunsplit(parts._replace(path=self.address(parts.path)))


class SubPathMiddleware:
    """Takes the root off requests, and puts it into their redirects and cookies."""

    def __init__(self, app: ASGIApp, sub_path: SubPath) -> None:
        self._app = app
        self._sub_path = sub_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request or one websocket's opening."""
        if scope["type"] not in {"http", "websocket"} or not self._sub_path.root:
            await self._app(scope, receive, send)
            return
        # In place: the handler of unexpected errors is outside of all middleware and has the same scope.
        scope["path"] = self._sub_path.inside(scope["path"])
        if raw := scope.get("raw_path"):
            scope["raw_path"] = self._sub_path.inside(raw.decode("latin-1")).encode("latin-1")
        sent = MutableHeaders(scope=scope)
        if referer := sent.get("referer"):
            parts = urlsplit(referer)
            sent["referer"] = urlunsplit(parts._replace(path=self._sub_path.inside(parts.path)))
        host = sent.get("host", "")

        async def answer(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.accept"}:
                headers = [self._header(name, value, host) for name, value in message.get("headers", [])]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, answer)

    def _header(self, name: bytes, value: bytes, host: str) -> tuple[bytes, bytes]:
        if name.lower() == b"location":
            return name, self._sub_path.location(value.decode("latin-1"), host).encode("latin-1")
        if name.lower() == b"set-cookie":
            path = f"{self._sub_path.root}/".encode("latin-1")
            return name, re.sub(rb"(?i)(;\s*path=)/(?=;|$)", lambda match: match[1] + path, value)
        return name, value


class TrustedProxies:
    """Scheme, host and client's address as `X-Forwarded-*` states them, from the named proxies only.

    Args:
        app: what gets the request.
        proxies: addresses and networks (`10.0.0.0/8`) of proxies; `*` = any address.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        self._app = app
        self._headers = ProxyHeadersMiddleware(app, list(proxies))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request or one websocket's opening."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        if client and client[0] in self._headers.trusted_hosts:
            host = Headers(scope=scope).get("x-forwarded-host", "").partition(",")[0].strip()
            if host:
                MutableHeaders(scope=scope)["host"] = host
        await self._headers(scope, receive, send)  # type: ignore[arg-type]
