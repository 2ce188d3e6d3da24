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
    """What was answered; names of headers in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Stream(io.RawIOBase):
    """A tunnel as something to read from. Its end is the end of the stream."""

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
    """What http.client wants of a socket."""

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
    """One request.

    Raises:
        GuestLost: the desktop is dead.
        GuestRefused: `refused`, nothing listens or what does is no HTTP; `timeout`; `too_large`.
    """
    # DevTools knows localhost and numbers as names of its host only.
    fields = {"Host": "localhost", "Connection": "close", "Content-Length": "0", **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    if any(ord(letter) < 0x20 for letter in f"{method}{path}{''.join(fields.values())}") or " " in path:  # noqa: PLR2004
        raise GuestRefused(f"{path[:100]!r} is no address", kind="bad_request")
    tunnel = opened()
    try:
        tunnel.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
        response = http.client.HTTPResponse(cast("Any", _Socket(_Stream(tunnel, deadline))), method=method)
        response.begin()
        body = response.read(most + 1)
    except (http.client.HTTPException, ValueError) as error:
        raise GuestRefused(f"what answers is no HTTP: {type(error).__name__}", kind="refused") from None
    finally:
        tunnel.close()
    if len(body) > most:
        raise GuestRefused(f"the answer has more than {most} bytes", kind="too_large")
    return DevToolsAnswer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)
