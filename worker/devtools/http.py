"""HTTP requests to a program inside the desktop, over a tunnel."""

import http.client
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from backend.domain.errors import GuestRefused
from worker.devtools.tunnel import Deadline, Tunnel

MAX_BODY = 8 * 2**20
Opened = Callable[[], Tunnel]


@dataclass(frozen=True)
class DevToolsAnswer:
    """An HTTP response; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Stream(io.RawIOBase):
    """A tunnel as a readable stream."""

    def __init__(self, tunnel: Tunnel, deadline: Deadline) -> None:
        super().__init__()
        self._tunnel, self._deadline = tunnel, deadline
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                self._rest = self._tunnel.receive(self._deadline)
            except GuestRefused as error:
                if error.kind != "refused":
                    raise
                return 0
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class _Socket:
    """The part of a socket that http.client uses."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._stream)


def ask(  # noqa: PLR0913 - a request has as many parts
    opened: Opened,
    method: str,
    path: str,
    deadline: Deadline,
    *,
    headers: Mapping[str, str] | None = None,
    most: int = MAX_BODY,
) -> DevToolsAnswer:
    """Sends one request.

    Raises:
        GuestLost: The desktop is gone.
        GuestRefused: `refused`, nothing listens or it is not HTTP; `timeout`; `too_large`.
    """
    # DevTools accepts only localhost and numeric addresses as host names.
    fields = {"Host": "localhost", "Connection": "close", "Content-Length": "0", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    if any(ord(letter) < 0x20 for letter in f"{method}{path}{''.join(fields.values())}") or " " in path:  # noqa: PLR2004
        raise GuestRefused(f"{path[:100]!r} is not a valid path", kind="bad_request")
    tunnel = opened()
    try:
        tunnel.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
        response = http.client.HTTPResponse(cast("Any", _Socket(_Stream(tunnel, deadline))), method=method)
        response.begin()
        body = response.read(most + 1)
    except (http.client.HTTPException, ValueError) as error:
        raise GuestRefused(f"the response is not HTTP: {type(error).__name__}", kind="refused") from None
    finally:
        tunnel.close()
    if len(body) > most:
        raise GuestRefused(f"the response has more than {most} bytes", kind="too_large")
    return DevToolsAnswer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
