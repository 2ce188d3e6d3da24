"""A web server of the test's own on a loopback port: gives scripted answers and records requests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


class OriginServer:
    """The running server.

    Attributes:
        pages: path to what is answered: bytes with status 200, or a function that answers itself.
        asked: (method, path, headers in small letters, body) of every request.
    """

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.port = int(server.server_address[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self.pages: dict[str, bytes | Answer] = {}
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []


def redirect(target: str, status: int = 302) -> Answer:
    """An answer that leads elsewhere, and sets a cookie on the way."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Location", target)
        handler.send_header("Set-Cookie", "session=1")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def reply(body: bytes, media_type: str = "application/octet-stream", status: int = 200) -> Answer:
    """A whole answer."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", media_type)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@contextmanager
def origin() -> Iterator[OriginServer]:
    """A server that is gone at the end."""

    class OriginHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            size = int(self.headers.get("Content-Length", "0"))
            headers = {name.lower(): value for name, value in self.headers.items()}
            origin_server.asked.append((self.command, self.path, headers, self.rfile.read(size)))
            page = origin_server.pages.get(self.path, reply(b"nothing here", "text/plain", 404))
            (reply(page) if isinstance(page, bytes) else page)(self)

        do_GET = do_POST = do_DELETE = do_PATCH = _handle  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), OriginHandler)
    server.daemon_threads = True
    origin_server = OriginServer(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield origin_server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
