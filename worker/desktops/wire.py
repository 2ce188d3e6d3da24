"""Requests to a guest API: deadlines, size limits, and every failure as the domain's error.

Nothing from a desktop is trusted. An invalid or endless reply is the desktop's failure (GuestLost), never an unexpected
exception of a library.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from backend.domain.errors import GuestLost, GuestRefused
from worker.desktops.deadline import DeadlineTransport, ThreadDeadline

MAX_REPLY = 64 * 2**20
_FAILURES = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.TimeoutException,
    httpcore.ConnectionNotAvailable,
    OSError,
)
# Status codes by which the guest reports that the desktop is unhealthy, not that the request was wrong.
_UNWELL = frozenset({"hung", "internal", "unauthorized"})
_LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Reply:
    """A successful reply: body, and media type without parameters."""

    data: bytes
    media_type: str

    def decoded(self) -> Any:
        """The JSON value; text for a text reply.

        Raises:
            GuestLost: It is neither.
        """
        if self.media_type.startswith("text/"):
            return self.data.decode("utf-8", "replace")
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            raise GuestLost(
                f"the desktop sent {len(self.data)} bytes that are not valid JSON", code="guest_protocol_error"
            ) from None

    def mapping(self) -> dict[str, Any]:
        """The JSON object.

        Raises:
            GuestLost: It is not an object.
        """
        value = self.decoded()
        if not isinstance(value, dict):
            raise GuestLost("the desktop's reply is not a JSON object", code="guest_protocol_error")
        return value


class GuestUnwell(GuestLost):
    """The guest itself reported that its desktop is unusable, or not ours."""

    code = "desktop_unhealthy"


class GuestConnection:
    """One desktop's address and secret. Thread-safe."""

    def __init__(self, address: str, secret: str) -> None:
        """Does not connect yet.

        Args:
            address: `http://host:port`, or `unix:/path` of a socket.
            secret: the desktop's secret.
        """
        parts = urlsplit(address)
        unix = parts.scheme == "unix"
        self.address = address
        self._clock = ThreadDeadline()
        self._client = httpx.Client(
            base_url="http://guest" if unix else address,
            transport=DeadlineTransport(self._clock, parts.path if unix else None),
            # No compressed replies: a small one could expand to any size.
            headers={"Accept-Encoding": "identity"},
            trust_env=False,
        )
        self.show(secret)

    def show(self, secret: str) -> None:
        """Uses another secret from now on."""
        self._client.headers["Authorization"] = f"Bearer {secret}"

    def close(self) -> None:
        """Closes all connections. Safe to call twice."""
        self._client.close()

    def ask(self, method: str, route: str, *, seconds: float, most: int = MAX_REPLY, **options: Any) -> Reply:
        """Sends a request and reads the whole reply.

        Args:
            method: GET or POST.
            route: path of the guest API.
            seconds: deadline of the whole request.
            most: maximum bytes of the reply.
            **options: `params`, `json`, `data`, `files` as httpx takes them.

        Raises:
            GuestLost: no reply in time, an invalid one, or the guest reports that the desktop is unhealthy.
            GuestRefused: the guest refuses, or the reply is larger than `most` (`too_large`).
        """
        with self._failures(method, route, seconds), self._clock.within(seconds):
            request = self._client.build_request(method, route, **options)
            response = self._client.send(request, stream=True)
            try:
                data = _read(response, most if response.status_code == HTTPStatus.OK else MAX_REPLY)
            finally:
                response.close()
        reply = Reply(data, response.headers.get("content-type", "").partition(";")[0].strip().lower())
        if response.status_code != HTTPStatus.OK:
            raise refusal(response.status_code, reply, f"{method} {route}")
        return reply

    @contextmanager
    def _failures(self, method: str, route: str, seconds: float) -> Iterator[None]:
        try:
            yield
        except (httpx.TimeoutException, httpcore.TimeoutException):
            raise GuestLost(
                f"the desktop did not respond to {method} {route} within {seconds:g} s", code="desktop_unreachable"
            ) from None
        except _FAILURES as error:
            cause = str(error) or type(error).__name__
            raise GuestLost(
                f"the desktop is gone or broken: {method} {route}: {cause}", code="desktop_unreachable"
            ) from error
        except RuntimeError as error:
            # A lost lease closes the desktop while the attempt uses it; the client then raises its own error.
            if not self._client.is_closed:
                raise
            raise GuestLost(f"the desktop was closed: {method} {route}", code="desktop_unreachable") from error


def _read(response: httpx.Response, most: int) -> bytes:
    """The body as it was sent."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise GuestLost("the desktop sent a compressed reply, which is not allowed", code="guest_protocol_error")
    announced = response.headers.get("content-length", "0")
    if announced.isdigit() and int(announced) > most:
        raise GuestRefused(f"the reply has {announced} bytes, the limit is {most}", kind="too_large")
    data = bytearray()
    for piece in response.iter_raw():
        data += piece
        if len(data) > most:
            raise GuestRefused(f"the reply has more than {most} bytes", kind="too_large")
    return bytes(data)


def refusal(status: int, reply: Reply, request: str) -> GuestLost | GuestRefused:
    """The domain's error for an unsuccessful reply."""
    try:
        value: Mapping[str, Any] = reply.mapping()
    except GuestLost:
        return GuestLost(f"{request}: the desktop returned {status} without a reason", code="guest_protocol_error")
    kind, message = str(value.get("error", ""))[:100], str(value.get("message", ""))[:_LONGEST_MESSAGE]
    if not kind or kind in _UNWELL:
        return GuestUnwell(f"{request}: {message or status}")
    return GuestRefused(message or f"{request}: {kind}", kind=kind)
