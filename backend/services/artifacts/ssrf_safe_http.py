"""SSRF-safe HTTP client: the only one that downloads what task files name.

An address in a task file may lead anywhere: into the operator's network, to an endless response, to a server that
trickles bytes. So every request goes to a checked public address (see `egress_policy`), carries no cookies or
credentials except the caller's, and has a deadline and a maximum size.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx
from httpcore import SOCKET_OPTION, NetworkBackend, NetworkStream
from httpcore._backends.sync import SyncBackend

from backend.domain.errors import Invalid, WebFailed
from backend.domain.ports.web import WebReply
from backend.services.artifacts.egress_policy import EgressPolicy, Resolver, allowed_addresses, checked_url, resolve

MOST_REDIRECTS = 10
CONNECT_SECONDS = 15.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_USER_AGENT = "Mozilla/5.0 (compatible; deskarena)"
_PIECE = 65536
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpcore.ProtocolError, httpcore.NetworkError, OSError)


class GuardedWeb:
    """Web port on the real network. Thread-safe and stateless."""

    def __init__(self, reach: EgressPolicy | None = None, *, resolver: Resolver = resolve) -> None:
        """Does not connect yet.

        Args:
            reach: allowed destinations.
            resolver: returns the addresses of a name.
        """
        self._reach = reach or EgressPolicy()
        self._resolver = resolver
        # The operator chooses trusted authorities (SSL_CERT_FILE); no other variables are used.
        self._trusted = httpx.create_ssl_context()

    def get(
        self, url: str, *, headers: Mapping[str, str] | None = None, max_bytes: int = 64 * 2**20, timeout: float = 60.0
    ) -> WebReply:
        deadline, request_headers = time.monotonic() + timeout, dict(headers or {})
        first = url
        for _ in range(MOST_REDIRECTS + 1):
            reply = self._ask("GET", url, request_headers, b"", max_bytes, deadline)
            target = reply.headers.get("location")
            if reply.status not in _REDIRECTS or not target:
                return reply
            following = urljoin(url, target)
            if _origin(following) != _origin(url):
                request_headers = {}  # What was meant for one server is not shown to another.
            url = following
        raise WebFailed(f"{first} redirects more than {MOST_REDIRECTS} times", code="too_many_redirects")

    def send(  # noqa: PLR0913 - as the port
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        max_bytes: int = 64 * 2**20,
        timeout: float = 60.0,
        cut: bool = False,
    ) -> WebReply:
        """As the port; with `cut`, only the first `max_bytes` of a longer answer are returned, as sent."""
        deadline = time.monotonic() + timeout
        return self._ask(
            method, url, dict(headers or {}), body, max_bytes, deadline, read=_read_first if cut else _read
        )

    def _ask(  # noqa: PLR0913, PLR0917 - one request with its bounds
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes,
        most: int,
        deadline: float,
        *,
        read: Callable[[httpx.Response, int, str], bytes] | None = None,
    ) -> WebReply:
        parts = checked_url(url)
        request_headers = {"User-Agent": _USER_AGENT, "Accept": "*/*", "Accept-Encoding": "identity", **headers}
        transport = httpx.HTTPTransport(verify=self._trusted, trust_env=False)
        backend = _CheckedNetwork(self._reach, self._resolver, deadline)
        transport._pool._network_backend = backend  # noqa: SLF001 - httpx has no other way to give one
        try:
            request = httpx.Request(method, url, headers=request_headers, content=body or None)
            # Only the transport, without cookie jar, netrc, environment or implicit redirects.
            response = transport.handle_request(request)
            try:
                data = (read or _read)(response, most, url)
            finally:
                response.close()
        except (httpx.TimeoutException, httpcore.TimeoutException, TimeoutError):
            raise WebFailed(f"{parts.hostname} did not answer in time: {url}", code="web_timeout") from None
        except _FAILURES as error:
            raise WebFailed(
                f"{url} does not answer: {str(error) or type(error).__name__}", code="web_unreachable"
            ) from error
        finally:
            transport.close()
        reply_headers = {name.lower(): value for name, value in response.headers.items()}
        return WebReply(url=url, status=response.status_code, headers=reply_headers, body=data, fetched_at=time.time())


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise WebFailed(
            f"a redirect leads to {url[:200]!r}, which is not an address", code="invalid_redirect"
        ) from error


def _read(response: httpx.Response, most: int, url: str) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise WebFailed(f"{url} has {announced} bytes, the limit is {most}", code="download_too_large")
    data = bytearray()
    for piece in response.iter_bytes(_PIECE):
        data += piece
        if len(data) > most:
            raise WebFailed(f"{url} sent more than {most} bytes", code="download_too_large")
    return bytes(data)


def _read_first(response: httpx.Response, most: int, _url: str) -> bytes:
    """The first bytes as they were sent: nothing is unpacked."""
    data = bytearray()
    for piece in response.iter_raw(most):
        data += piece
        if len(data) >= most:
            break
    return bytes(data[:most])


class _CheckedNetwork(NetworkBackend):
    """Connects to checked addresses only, and enforces the request's deadline on every operation."""

    def __init__(self, reach: EgressPolicy, resolver: Resolver, deadline: float) -> None:
        self._reach, self._resolver, self._deadline = reach, resolver, deadline
        self._plain = SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the request's deadline counts
        local_address: str | None = None,  # noqa: ARG002 - never given
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        addresses = allowed_addresses(host, port, self._reach, self._resolver)
        problem: Exception | None = None
        for address in addresses:
            seconds = min(CONNECT_SECONDS, _remaining(self._deadline))
            try:
                stream = self._plain.connect_tcp(address, port, timeout=seconds, socket_options=socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
                continue
            return _DeadlineStream(stream, self._deadline)
        raise problem or httpcore.ConnectError(f"{host} has no address")

    def connect_unix_socket(self, *_: Any, **__: Any) -> NetworkStream:
        raise Invalid("Unix sockets are not allowed", code="private_address")

    def sleep(self, seconds: float) -> None:
        self._plain.sleep(min(seconds, _remaining(self._deadline)))


class _DeadlineStream(NetworkStream):
    """A connection whose every operation ends at the deadline."""

    def __init__(self, stream: NetworkStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the deadline counts
        return self._stream.read(max_bytes, timeout=_remaining(self._deadline))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - the deadline counts
        self._stream.write(buffer, timeout=_remaining(self._deadline))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: Any,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, timeout=_remaining(self._deadline))
        return _DeadlineStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _remaining(deadline: float) -> float:
    """Seconds until the deadline. Raises httpcore.ReadTimeout after it."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout("the deadline of the whole request has passed")
    return seconds
