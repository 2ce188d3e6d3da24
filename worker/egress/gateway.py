"""Egress gateway: an HTTP proxy on a unix socket that is bound into one desktop.

Programs in the desktop are hostile and can reach only this. It serves stored addresses itself, connects to allowed
hosts whose addresses are public, and refuses everything else with a message. For mocked https hosts it terminates TLS
with certificates that only this desktop trusts.
"""

import asyncio
import base64
import contextlib
import ipaddress
import logging
import mimetypes
import re
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from backend.domain.errors import DeskarenaError
from backend.domain.machines.egress_rules import EgressRules
from backend.services.artifacts.egress_policy import EgressPolicy, Resolver, allowed_addresses, resolve
from worker.egress.certificate_authority import CertificateAuthority
from worker.egress.guest_tunnels import GuestTunnels
from worker.egress.requests import MOST_HEAD, BadRequest, RequestHead, allows, read_request, same

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
MOST_CONNECTIONS = 64
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 15.0
_IDLE_SECONDS = 300.0
_GOODBYE_SECONDS = 5.0
_PIECE = 65536
_WORDS = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable", 200: "OK"}
logger = logging.getLogger(__name__)


class _Refusal(Exception):
    """The request is refused. `args` are status and message."""


class Gateway:
    """One desktop's gateway. Until `allow` is called it passes nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop, *, reach: EgressPolicy, resolver: Resolver) -> None:
        self._loop = loop
        self._reach, self._resolver = reach, resolver
        self._way_out = EgressRules()
        self._files: dict[tuple[str, str, str], str] = {}
        self._authority: CertificateAuthority | None = None
        self._fetch: Callable[[str], bytes] = _nothing
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.AbstractServer | None = None
        self._path: Path | None = None
        self._closed = False
        self.refused = 0

    def allow(self, way_out: EgressRules, fetch: Callable[[str], bytes]) -> bytes:
        """Sets what the desktop may reach from now on; `fetch` returns the bytes of an artifact.

        Returns:
            Returns the certificate (PEM) that the desktop has to trust; empty if no https host is mocked.
        """
        hosts = [target.rpartition(":")[0] for target in way_out.mocked]
        self._authority = CertificateAuthority(hosts) if hosts else None
        self._files = {same(url): sha256 for url, sha256 in way_out.files.items()}
        self._fetch, self._way_out = fetch, way_out
        return self._authority.certificate if self._authority is not None else b""

    async def listen(self, path: Path) -> None:
        """Opens the socket. Raises OSError."""
        self._server = await asyncio.start_unix_server(self._accept, str(path), limit=MOST_HEAD)
        self._path = path

    def close(self) -> None:
        """Closes every connection and returns when the socket is gone. Safe to call twice."""
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(10.0)

    async def stop(self) -> None:
        """Like `close`, from the loop."""
        self._closed = True
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Registered at once, so that a connection is closed even if its task is cancelled before its first step."""
        if self._closed or len(self._tasks) >= MOST_CONNECTIONS:
            writer.close()
            return
        task = self._loop.create_task(self._talk(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._let_go(ended, writer))

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer((reader, writer))
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ExceptionGroup):
            logger.debug("gateway: a desktop's connection ended early")

    def _let_go(self, task: "asyncio.Task[None]", writer: asyncio.StreamWriter) -> None:
        """Its place is free before the other side sees the end."""
        self._tasks.discard(task)
        writer.close()

    async def _answer(self, client: Pair, *, within: str = "") -> None:
        """Handles one request; `within` is the mocked host whose TLS was terminated."""
        async with asyncio.timeout(_HEAD_SECONDS):
            head = await client[0].readuntil(b"\r\n\r\n")
        try:
            request = read_request(head, within=within)
            await self._serve(request, client)
        except BadRequest as error:
            await _say(client, 400, str(error))
        except _Refusal as error:
            self.refused += 1
            await _say(client, *error.args)

    async def _serve(self, request: RequestHead, client: Pair) -> None:
        stored = self._files.get(same(request.url)) if request.url else None
        if stored is not None and request.method in {"GET", "HEAD"}:
            await self._give(request, stored, client)
            return
        if f"{request.host}:{request.port}" in self._way_out.mocked:
            await self._stand_in(request, client)
            return
        self._check(request)
        if request.method == "CONNECT":
            await self._tunnel(request, client)
        elif request.url.startswith("https:"):
            raise _Refusal(403, "https addresses need a tunnel (CONNECT)")
        else:
            await self._forward(request, client)

    def _check(self, request: RequestHead) -> None:
        if not any(allows(pattern, request.host, request.port) for pattern in self._way_out.hosts):
            raise _Refusal(403, f"this desktop may not reach {request.host}:{request.port}")

    async def _give(self, request: RequestHead, sha256: str, client: Pair) -> None:
        """Responds from the store."""
        try:
            data = await asyncio.to_thread(self._fetch, sha256)
        except DeskarenaError as error:
            raise _Refusal(503, f"the file cannot be read: {error.message}") from error
        media_type = _media_type(urlsplit(request.url).path, data)
        await _send(client, 200, media_type, data, head_only=request.method == "HEAD")

    async def _stand_in(self, request: RequestHead, client: Pair) -> None:
        """Acts as the mocked host at the other end of the tunnel. Only stored addresses exist."""
        if request.method != "CONNECT" or self._authority is None:
            raise _Refusal(403, f"{request.host} is mocked; only its stored addresses exist")
        context = self._authority.context(request.host)
        client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await client[1].drain()
        await client[1].start_tls(context, ssl_handshake_timeout=_CONNECT_SECONDS)
        try:
            await self._answer(client, within=f"https://{request.host}:{request.port}")
            # Closing TLS needs a message of the other side, too; until then it counts as a connection.
            client[1].close()
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await client[1].wait_closed()
        finally:
            client[1].transport.abort()

    async def _tunnel(self, request: RequestHead, client: Pair) -> None:
        server = await (self._by_proxy(request) if self._way_out.proxy else self._connect(request.host, request.port))
        try:
            client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _both_ways(client, server)
        finally:
            server[1].close()

    async def _forward(self, request: RequestHead, client: Pair) -> None:
        length = request.length()
        proxy = self._way_out.proxy
        if proxy:
            _check_for_proxy(request.host)
            server = await _open_proxy(proxy)
        else:
            server = await self._connect(request.host, request.port)
        try:
            server[1].write(request.forwarded(whole=bool(proxy), extra=_credentials(proxy)))
            answer = asyncio.create_task(_pump(server[0], client[1]))
            try:
                await _pump(client[0], server[1], most=length)
                await answer
            finally:
                answer.cancel()
        finally:
            server[1].close()

    async def _connect(self, host: str, port: int) -> Pair:
        """A connection to a checked address of the host."""
        try:
            addresses = await asyncio.to_thread(allowed_addresses, host, port, self._reach, self._resolver)
        except DeskarenaError as error:
            raise _Refusal(403 if error.status < 500 else 502, error.message) from error  # noqa: PLR2004
        for address in addresses:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection(address, port)
        raise _Refusal(502, f"{host}:{port} does not respond")

    async def _by_proxy(self, request: RequestHead) -> Pair:
        """A tunnel through the configured proxy."""
        _check_for_proxy(request.host)
        proxy = self._way_out.proxy
        server = await _open_proxy(proxy)
        target = f"{request.host}:{request.port}"
        server[1].write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{_credentials(proxy)}\r\n".encode())
        try:
            async with asyncio.timeout(_HEAD_SECONDS):
                head = await server[0].readuntil(b"\r\n\r\n")
        except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError) as error:
            server[1].close()
            raise _Refusal(502, "the configured proxy does not respond") from error
        if head.split(b" ")[1:2] != [b"200"]:
            server[1].close()
            raise _Refusal(502, f"the configured proxy cannot reach {target}")
        return server


def _media_type(path: str, data: bytes) -> str:
    """By the file extension, else HTML if it looks like it: a browser would otherwise download it."""
    page = re.match(rb"\s*<(!doctype\s+html|html)\b", data[:500], re.IGNORECASE)
    return mimetypes.guess_type(path)[0] or ("text/html" if page else "application/octet-stream")


def _nothing(sha256: str) -> bytes:
    raise DeskarenaError(f"files are not available yet, including {sha256}", code="egress_not_ready")


def _check_for_proxy(host: str) -> None:
    """The proxy resolves names itself, so clearly private names must be refused here."""
    try:
        public = ipaddress.ip_address(host).is_global
    except ValueError:
        numeric = host.rpartition(".")[2][:1].isdigit()  # Another spelling of an address, such as 127.1.
        public = (
            "." in host
            and not numeric
            and not host.endswith((".local", ".internal", ".localhost", ".lan", ".home.arpa"))
        )
    if not public:
        raise _Refusal(403, f"{host} is not a public host")


async def _open_proxy(proxy: str) -> Pair:
    try:
        parts = urlsplit(proxy)
        async with asyncio.timeout(_CONNECT_SECONDS):
            return await asyncio.open_connection(parts.hostname, parts.port or 3128)
    except (OSError, ValueError, TimeoutError) as error:
        raise _Refusal(502, "the configured proxy does not respond") from error


def _credentials(proxy: str) -> str:
    """The header with the proxy's user name and password, or nothing."""
    parts = urlsplit(proxy)
    if not parts.username:
        return ""
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Proxy-Authorization: Basic {base64.b64encode(credentials.encode()).decode()}\r\n"


async def _say(client: Pair, status: int, message: str) -> None:
    await _send(client, status, "text/plain; charset=utf-8", f"{message}\n".encode())


async def _send(client: Pair, status: int, media_type: str, data: bytes, *, head_only: bool = False) -> None:
    lines = [f"HTTP/1.1 {status} {_WORDS.get(status, '')}", f"Content-Type: {media_type}", "Connection: close"]
    head = "\r\n".join([*lines, f"Content-Length: {len(data)}", "", ""]).encode()
    client[1].write(head if head_only else head + data)
    async with asyncio.timeout(_IDLE_SECONDS):
        await client[1].drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, most: int | None = None) -> None:
    """Copies bytes until the sender ends, or `most` of them."""
    remaining = most
    while remaining is None or remaining > 0:
        async with asyncio.timeout(_IDLE_SECONDS):
            data = await reader.read(_PIECE if remaining is None else min(remaining, _PIECE))
        if not data:
            return
        remaining = None if remaining is None else remaining - len(data)
        writer.write(data)
        async with asyncio.timeout(_IDLE_SECONDS):
            await writer.drain()


async def _both_ways(client: Pair, server: Pair) -> None:
    """Copies bytes in both directions until both have ended, or one breaks."""

    async def one_way(source: Pair, target: Pair) -> None:
        while data := await source[0].read(_PIECE):
            target[1].write(data)
            async with asyncio.timeout(_IDLE_SECONDS):
                await target[1].drain()
        target[1].write_eof()

    async with asyncio.TaskGroup() as ways:
        ways.create_task(one_way(client, server))
        ways.create_task(one_way(server, client))


class Gateways:
    """All gateways of a worker: one thread with one event loop, started on first use."""

    def __init__(self, *, reach: EgressPolicy | None = None, resolver: Resolver = resolve) -> None:
        self._reach, self._resolver = reach or EgressPolicy(), resolver
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def open(self, path: Path, *, mode: int = 0o600) -> Gateway:
        """A gateway that listens on a unix socket with the permissions `mode`. Raises OSError."""
        loop = self._running()
        gateway = Gateway(loop, reach=self._reach, resolver=self._resolver)
        asyncio.run_coroutine_threadsafe(gateway.listen(path), loop).result(10.0)
        path.chmod(mode)
        return gateway

    def lines(self, address: str, secret: str, gateway: Path) -> GuestTunnels:
        """Keeps tunnels open from a virtual machine to its gateway.

        Args:
            address: of the machine's guest API.
            secret: its new secret: tunnels from before a resume are useless to the machine.
            gateway: the socket passed to `open`.
        """
        loop = self._running()
        lines = GuestTunnels(loop, address, secret, gateway)
        asyncio.run_coroutine_threadsafe(lines.begin(), loop).result(10.0)
        return lines

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="egress", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Ends the thread, with remaining gateways. Safe to call twice."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(10.0)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
