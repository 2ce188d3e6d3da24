"""The API over HTTP on a loopback port, with a bearer token: connections that stay, chunked watches, cuts on demand."""

import select
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.kubernetes import handlers, requests, status
from tests.fakes.kubernetes.faults import ApiFault
from tests.fakes.kubernetes.rbac import User
from tests.fakes.kubernetes.state import AnsweredRequest, State
from tests.fakes.kubernetes.tls import server_context
from tests.fakes.kubernetes.watching import Watch


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault: ApiFault | None = None
        request: requests.Request | None = None
        user = User("system:anonymous")
        try:
            request = requests.read(self.command, self.path, headers, body)
            user = self._user(headers)
            fault = self.server.state.faults.take(request)
            self._suffer(fault)
            answer = handlers.answer(self.server.state, request, user)
        except status.Refusal as refusal:
            answer = handlers.refused(refusal)
        except ConnectionAbortedError:
            self._reset()
            return
        if request is not None:
            asked = AnsweredRequest(
                self.command, request.verb, request.path, dict(request.query), user.name, answer.code
            )
            self.server.state.asked.append(asked)
        if fault is not None and fault.cut == "after":
            self._reset()
            return
        with suppress(ConnectionError, BrokenPipeError):
            self._send(answer)

    def _user(self, headers: dict[str, str]) -> User:
        word, _, token = headers.get("authorization", "").partition(" ")
        # Who shows no token at all is whom a test has added with an empty one: kubectl shows none without TLS.
        user = self.server.state.users.get(token) if word.lower() in {"bearer", ""} else None
        if user is None:
            raise status.unauthorized()
        return user

    def _suffer(self, fault: ApiFault | None) -> None:
        if fault is None:
            return
        if fault.seconds:
            self.server.over.wait(fault.seconds)
        if fault.cut == "before":
            raise ConnectionAbortedError
        if fault.refusal is not None:
            raise fault.refusal()

    def _reset(self) -> None:
        """Ends the connection as a broken network does: with a reset, not with an end."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RD)

    def _send(self, answer: handlers.Answer) -> None:
        head = [f"HTTP/1.1 {answer.code} {HTTPStatus(answer.code).phrase}", f"Content-Type: {answer.media}"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        if answer.stream is None:
            head.append(f"Content-Length: {len(answer.body)}")
            self.wfile.write("\r\n".join([*head, "", ""]).encode() + answer.body)
            return
        head.append("Transfer-Encoding: chunked")
        self.wfile.write("\r\n".join([*head, "", ""]).encode())
        self._stream(answer.stream, answer.watch)

    def _stream(self, pieces: Iterator[bytes], watch: Watch | None) -> None:
        with self.server.watching(watch):
            for piece in pieces:
                if piece:
                    self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                elif self._left():
                    self.close_connection = True
                    return
            if watch is not None and watch.severed:
                self._reset()
                return
            self.wfile.write(b"0\r\n\r\n")

    def _left(self) -> bool:
        """Whether the client has gone away: then the connection can be read, and says nothing."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the library's names

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, state: State, port: int, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._tls = tls
        self.state = state
        self.over = threading.Event()
        self.watches: set[Watch] = set()
        self.connections: set[socket.socket] = set()
        self._lock = threading.Lock()

    def get_request(self) -> tuple[socket.socket, Any]:
        """A connection; its handshake is made by the thread that serves it."""
        connection, address = super().get_request()
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    @contextmanager
    def watching(self, watch: Watch | None) -> Iterator[None]:
        """Keeps a watch among those that run, while it does."""
        if watch is None:
            yield
            return
        self.watches.add(watch)
        if self.state.faults.away:
            # It was admitted before the server went away, and began after the watches were cut.
            watch.severed = True
            watch.cut()
        try:
            yield
        finally:
            self.watches.discard(watch)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores a client that disconnects; other errors are reported as usual."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.connections.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            with self._lock:
                self.connections.discard(request)

    def cut_connections(self) -> None:
        """Ends every connection."""
        with self._lock:
            for connection in list(self.connections):
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class FakeApiServer:
    """The running server.

    Attributes:
        address: `http://127.0.0.1:PORT`, or https.
    """

    def __init__(self, state: State, port: int = 0, *, tls: bool = False) -> None:
        self._server = _Server(state, port, server_context() if tls else None)
        state.ended = self._server.over.is_set
        self.port = int(self._server.server_address[1])
        self.address = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def watches(self) -> int:
        """How many watches run now."""
        return len(self._server.watches)

    def cut_watches(self, *, reset: bool = True) -> int:
        """Ends all watches, by a reset or in good order; returns how many there were."""
        obj = list(self._server.watches)
        for watch in obj:
            watch.severed = reset
            watch.cut()
        return len(obj)

    def cut_connections(self) -> None:
        """Ends every connection."""
        self._server.cut_connections()

    def close(self) -> None:
        """Ends the server and all that is connected to it."""
        self._server.over.set()
        self.cut_watches(reset=False)
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_connections()
        self._thread.join()
