"""A scripted guest server on a unix socket; answers can be broken, endless or slow."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

Answer = Callable[[socket.socket, bytes], None]


def reply(status: int, body: bytes, media_type: str = "application/json", *headers: str) -> Answer:
    """An ordinary HTTP reply."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {media_type}", f"Content-Length: {len(body)}", *headers]
    head = "\r\n".join([*lines, "", ""]).encode()
    return lambda connection, _: connection.sendall(head + body)


class GuestSocketServer:
    """Serves until it is closed; keeps the requests.

    Attributes:
        answer: what it does with the next request.
        requests: heads and bodies.
        connections: number of them that were opened.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "guest.sock"
        self.answer: Answer = reply(200, b"{}")
        self.requests: list[bytes] = []
        self.connections = 0
        self.stop = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]

    @property
    def address(self) -> str:
        return f"unix:{self.path}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(0.1)
        with connection:
            while not self.stop.is_set():
                try:
                    request = connection.recv(2**20)
                except TimeoutError:
                    continue
                except OSError:
                    return
                if not request:
                    return
                request += _rest(connection, request)
                self.requests.append(request)
                try:
                    self.answer(connection, request)
                except OSError:
                    return


def _rest(connection: socket.socket, request: bytes) -> bytes:
    """Missing fields of a request's body."""
    head, _, body = request.partition(b"\r\n\r\n")
    sizes = [line.partition(b":")[2] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    rest = b""
    connection.settimeout(5)
    while sizes and len(body) + len(rest) < int(sizes[0]):
        rest += connection.recv(2**20)
    connection.settimeout(0.1)
    return rest
