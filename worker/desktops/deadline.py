"""HTTP transport whose requests end at a deadline, however slowly the other side sends.

Ordinary timeouts count from byte to byte: a desktop that sends one byte per second would never time out.
"""

import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

_Options = Iterable[httpcore.SOCKET_OPTION]


class ThreadDeadline(threading.local):
    """This thread's deadline, in monotonic seconds."""

    end = float("inf")

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Bounds everything inside the context to the given seconds."""
        self.end = time.monotonic() + seconds
        try:
            yield
        finally:
            self.end = float("inf")

    def left(self, timeout: float | None, error: type[Exception]) -> float:
        """Seconds left for an operation. Raises `error` if there are none."""
        remaining = self.end - time.monotonic()
        if remaining <= 0:
            raise error("the deadline has passed")
        return min(remaining, timeout if timeout is not None else remaining)


class _Stream(httpcore.NetworkStream):
    """A connection that checks the deadline before every operation."""

    def __init__(self, connection: socket.socket, clock: ThreadDeadline) -> None:
        self._socket = connection
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._socket.settimeout(self._clock.left(timeout, httpcore.ReadTimeout))
        with _as_httpcore(httpcore.ReadTimeout, httpcore.ReadError):
            return self._socket.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        unsent = memoryview(buffer)
        while unsent:
            self._socket.settimeout(self._clock.left(timeout, httpcore.WriteTimeout))
            with _as_httpcore(httpcore.WriteTimeout, httpcore.WriteError):
                unsent = unsent[self._socket.send(unsent) :]

    def close(self) -> None:
        self._socket.close()

    def get_extra_info(self, info: str) -> Any:
        """Only what the pool queries: whether an idle connection is readable (that is, closed)."""
        if info == "is_readable":
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(0))
        return None


class _Backend(httpcore.NetworkBackend):
    """Opens connections that check the deadline."""

    # ruff: noqa: ARG002 - the library's signatures; no option of them is ever given here.

    def __init__(self, clock: ThreadDeadline) -> None:
        self._clock = clock

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options | None = None,
    ) -> httpcore.NetworkStream:
        left = self._clock.left(timeout, httpcore.ConnectTimeout)
        with _as_httpcore(httpcore.ConnectTimeout, httpcore.ConnectError):
            connection = socket.create_connection((host, port), left)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return _Stream(connection, self._clock)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: _Options | None = None
    ) -> httpcore.NetworkStream:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(self._clock.left(timeout, httpcore.ConnectTimeout))
            with _as_httpcore(httpcore.ConnectTimeout, httpcore.ConnectError):
                connection.connect(path)
        except BaseException:
            connection.close()
            raise
        return _Stream(connection, self._clock)


@contextmanager
def _as_httpcore(timeout: type[Exception], other: type[Exception]) -> Iterator[None]:
    """Maps errors to the library's own, so that its pool drops broken connections."""
    try:
        yield
    except TimeoutError as error:
        raise timeout(str(error)) from error
    except OSError as error:
        raise other(str(error)) from error


class _Body(httpx.SyncByteStream):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        yield from self._inner

    def close(self) -> None:
        self._inner.close()


class DeadlineTransport(httpx.BaseTransport):
    """Sends requests over a unix socket or TCP; `clock.within(seconds)` bounds them."""

    def __init__(self, clock: ThreadDeadline, socket_path: str | None = None) -> None:
        self._pool = httpcore.ConnectionPool(
            uds=socket_path, network_backend=_Backend(clock), max_connections=8, keepalive_expiry=300
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request and reads the head of its response; the caller reads the body."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path
        )
        reply = self._pool.handle_request(
            httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream)
        )
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply.stream))

    def close(self) -> None:
        self._pool.close()
