"""Byte stream to a port of the desktop, through the guest API's `/tunnel/{port}` websocket."""

import json
import time
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import connect, unix_connect

from backend.domain.errors import GuestLost, GuestRefused

_OPEN_SECONDS = 10.0
_MAX_PIECE = 2**20
_UNAUTHORIZED = 401


class Deadline:
    """Deadline of an operation."""

    def __init__(self, seconds: float, operation: str) -> None:
        self._end = time.monotonic() + seconds
        self._words = f"{operation} took longer than {seconds:g} s"

    def left(self) -> float:
        """Remaining seconds, more than 0.

        Raises:
            GuestRefused: kind `timeout`, there are none.
        """
        remaining = self._end - time.monotonic()
        if remaining <= 0.0:
            raise self.missed()
        return remaining

    def missed(self) -> GuestRefused:
        return GuestRefused(self._words, kind="timeout")


class Tunnel:
    """One connection. Its constructor connects."""

    def __init__(self, address: str, secret: str, port: int) -> None:
        """Connects.

        Args:
            address: of the guest API: `http://host:port`, or `unix:/path` of a socket.
            secret: the desktop's secret.
            port: of the desktop.

        Raises:
            GuestLost: the guest API does not respond.
            GuestRefused: kind `refused`, nothing listens on the port or it is not on the guest's allow-list.
        """
        options: dict[str, Any] = {
            "additional_headers": {"Authorization": f"Bearer {secret}"},
            "max_size": _MAX_PIECE,
            "open_timeout": _OPEN_SECONDS,
            "close_timeout": 1,
            "compression": None,
        }
        parts = urlsplit(address)
        self._resources = ExitStack()
        try:
            if parts.scheme == "unix":
                connection = unix_connect(parts.path, f"ws://guest/tunnel/{port}", **options)
            else:
                scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
                url = urlunsplit((scheme, parts.netloc, f"{parts.path.rstrip('/')}/tunnel/{port}", "", ""))
                connection = connect(url, proxy=None, **options)
            self._socket = self._resources.enter_context(connection)
        except InvalidStatus as error:
            raise _refusal(error, port) from None
        except (OSError, WebSocketException, ValueError) as error:
            raise GuestLost(
                f"the desktop did not open a tunnel: {type(error).__name__}: {error}", code="desktop_unreachable"
            ) from error

    def send(self, data: bytes) -> None:
        """Sends bytes. Raises GuestLost or GuestRefused as `receive`."""
        try:
            self._socket.send(data)
        except ConnectionClosed as error:
            raise _end_error(error) from None

    def receive(self, deadline: Deadline) -> bytes:
        """The next bytes.

        Raises:
            GuestRefused: `timeout`, or `refused`: the other side has closed it.
            GuestLost: The desktop is gone.
        """
        try:
            data = self._socket.recv(timeout=deadline.left())
        except TimeoutError:
            raise deadline.missed() from None
        except ConnectionClosed as error:
            raise _end_error(error) from None
        return data.encode() if isinstance(data, str) else data

    def close(self) -> None:
        """Closes it. Safe to call twice."""
        self._resources.close()


def _end_error(error: ConnectionClosed) -> GuestRefused | GuestLost:
    """The guest sends a close frame when the program has ended; a dead guest sends nothing."""
    if error.rcvd is None:
        return GuestLost("the desktop is gone: its tunnel broke", code="desktop_unreachable")
    if error.rcvd.code == 1009 or (error.sent is not None and error.sent.code == 1009):  # noqa: PLR2004 - too big
        return GuestRefused("a message is too large for the tunnel", kind="too_large")
    return GuestRefused("the other side closed the connection", kind="refused")


def _refusal(error: InvalidStatus, port: int) -> GuestRefused | GuestLost:
    """Error for the guest's refusal of a tunnel."""
    status, body = error.response.status_code, bytes(error.response.body or b"")
    try:
        reply = json.loads(body)
        kind, words = str(reply.get("error", "")), str(reply.get("message", ""))[:300]
    except (ValueError, AttributeError):
        kind, words = "", ""
    if status == _UNAUTHORIZED or kind not in {"refused", "forbidden"}:
        return GuestLost(
            f"the desktop returned {status} to a request for a tunnel: {words}", code="desktop_unreachable"
        )
    return GuestRefused(words or f"nothing listens on port {port}", kind="refused")
