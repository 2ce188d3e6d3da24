"""HTTP client for model APIs: one request with a deadline and a maximum size, interruptible at any moment.

Built on httpcore, so that nothing adds headers, follows redirects or logs addresses.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, local
from typing import Any

import httpcore
import httpx
from httpcore import SOCKET_OPTION, NetworkBackend, NetworkStream
from httpcore._backends.sync import SyncBackend

from worker.models._errors import FaultAction, ModelFault, fault_of, nonsense

MOST_BYTES = 32 * 2**20
MOST_LINE = 4 * 2**20
MOST_ERROR = 64 * 2**10
CONNECT_SECONDS = 15.0
LOOK_SECONDS = 0.5
_PIECE = 65536
_OK = 200
# It logs response headers, in which a server may repeat a key.
logging.getLogger("httpcore").setLevel(logging.WARNING)
_BROKEN = (httpx.HTTPError, httpcore.ProtocolError, httpcore.NetworkError, OSError)
_LATE = (httpx.TimeoutException, httpcore.TimeoutException, TimeoutError)


class HttpAnswer:
    """A response with status 200; read it once, as one body or as events."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises ModelFault if it is not one, or too large."""
        announced = self._response.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > MOST_BYTES:
            raise nonsense(f"the response has {announced} bytes, the limit is {MOST_BYTES}")
        data = bytearray()
        for piece in self._pieces():
            data += piece
        return json_object(bytes(data))

    def events(self) -> Iterator[tuple[str, str]]:
        """Server-sent events as (name or nothing, data), in order; data after `[DONE]` is not read."""
        name, data = "", list[str]()
        for line in self._lines():
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif line.startswith("event:"):
                name = line[6:].strip()
            elif not line and data:
                yield name, "\n".join(data)
                name, data = "", []
        if data:
            yield name, "\n".join(data)

    def _lines(self) -> Iterator[str]:
        remainder = b""
        for piece in self._pieces():
            *lines, remainder = (remainder + piece).split(b"\n")
            if len(remainder) > MOST_LINE:
                raise nonsense(f"the response has a line of more than {MOST_LINE} bytes")
            for line in lines:
                yield line.rstrip(b"\r").decode(errors="replace")
        if remainder:
            yield remainder.decode(errors="replace")

    def _pieces(self) -> Iterator[bytes]:
        size = 0
        for piece in self._response.iter_raw(_PIECE):
            size += len(piece)
            if size > MOST_BYTES:
                raise nonsense(f"it sent more than {MOST_BYTES} bytes")
            yield piece


def json_object(data: bytes | str) -> dict[str, Any]:
    """A JSON object. Raises ModelFault if it is not one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        excerpt = data[:80] if isinstance(data, str) else data[:80].decode(errors="replace")
        raise nonsense(f"the response is not valid JSON: {excerpt!r}") from None
    if not isinstance(value, dict):
        raise nonsense(f"the response is not a JSON object but {type(value).__name__}")
    return value


class EndpointConnections:
    """Connections to one endpoint, for one attempt. Thread-safe."""

    def __init__(self, check: Callable[[], None]) -> None:
        """Args: check: raises if the attempt must stop; called twice a second during a request."""
        self._network = _Network(check)
        self._lock = Lock()
        self._under_way = 0
        self._over = False
        # The operator chooses trusted authorities (SSL_CERT_FILE); no other variables are used.
        self._transport = httpx.HTTPTransport(verify=httpx.create_ssl_context(), trust_env=False)
        self._transport._pool._network_backend = self._network  # noqa: SLF001 - httpx has no other way to give one

    @contextmanager
    def post(self, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Iterator[HttpAnswer]:
        """Sends a request; returns the response with status 200.

        Raises:
            ModelFault: it did not connect, broke, took longer than `seconds`, or returned another status. Contains no
                part of the request.
        """
        self._network.deadline = time.monotonic() + seconds
        all_headers = {"Accept-Encoding": "identity", "Content-Type": "application/json", **headers}
        self._count(1)
        try:
            response = self._transport.handle_request(httpx.Request("POST", url, headers=all_headers, content=body))
            try:
                if response.status_code != _OK:
                    raise _failure(response)
                yield HttpAnswer(response)
            finally:
                response.close()
        except _LATE:
            raise ModelFault(FaultAction.HOLD, f"no response within {seconds:g} s", counted_as="timeout") from None
        except _BROKEN as error:
            message = f"the connection broke: {str(error) or type(error).__name__}"
            raise ModelFault(FaultAction.HOLD, message, counted_as="connection") from None
        except (httpx.InvalidURL, UnicodeError) as error:
            raise ModelFault(FaultAction.REFUSED, f"invalid address: {error}") from None
        finally:
            self._count(-1)

    def close(self) -> None:
        """Closes all connections; those in use when their request ends, as another thread reads from them."""
        self._over = True
        self._count(0)

    def _count(self, change: int) -> None:
        with self._lock:
            self._under_way += change
            if self._over and self._under_way == 0:
                self._transport.close()


def _failure(response: httpx.Response) -> ModelFault:
    body = b""
    for piece in response.iter_raw(_PIECE):
        body += piece
        if len(body) >= MOST_ERROR:
            break
    headers = {name.lower(): value for name, value in response.headers.items()}
    return fault_of(response.status_code, headers, body[:MOST_ERROR])


class _Network(NetworkBackend):
    """Connections whose every operation ends at the deadline of this thread's request."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self._plain = SyncBackend()
        self._mine = local()

    @property
    def deadline(self) -> float:
        """Deadline of this thread's request, on the monotonic clock."""
        return float(self._mine.deadline)

    @deadline.setter
    def deadline(self, value: float) -> None:
        self._mine.deadline = value

    def left(self) -> float:
        """Seconds until the deadline. Raises httpcore.ReadTimeout when it has passed."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the deadline of the whole request has passed")
        return seconds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline counts
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        seconds = min(CONNECT_SECONDS, self.left())
        stream = self._plain.connect_tcp(host, port, seconds, local_address, socket_options)
        return _InterruptibleStream(stream, self)

    def connect_unix_socket(self, *_: Any, **__: Any) -> NetworkStream:
        raise httpcore.ConnectError("unix sockets are not supported")

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(min(seconds, self.left()))


class _InterruptibleStream(NetworkStream):
    """A connection that checks twice a second, while it waits, whether the attempt must stop."""

    def __init__(self, stream: NetworkStream, network: _Network) -> None:
        self._stream, self._network = stream, network
        self._looked = time.monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the deadline counts
        while True:
            self._check_stop()
            try:
                return self._stream.read(max_bytes, timeout=min(LOOK_SECONDS, self._network.left()))
            except httpcore.ReadTimeout:
                self._network.left()

    def _check_stop(self) -> None:
        """A trickling response never times out a read: the clock decides when to check."""
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            self._network.check()

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - the deadline counts
        self._stream.write(buffer, timeout=self._network.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> NetworkStream:
        stream = self._stream.start_tls(
            ssl_context, server_hostname, timeout=min(CONNECT_SECONDS, self._network.left())
        )
        return _InterruptibleStream(stream, self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
