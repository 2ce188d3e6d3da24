"""Unix socket through which a container reaches only the API's paths for agents."""

import logging
import math
import socketserver
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx

from backend.addresses import API

logger = logging.getLogger(__name__)
PATH = f"{API}/agent"
ANSWERS = f"{PATH}/actions"
MOST_BODY = 2**20
MOST_DROPPED = 2**23
LONGEST = 90.0
ASK_SECONDS = 5.0
_FORWARDED_HEADERS = ("content-type", "cache-control", "www-authenticate", "retry-after")


def lets_through(path: str) -> bool:
    """Whether a path is one of the API's paths for agents. Ambiguous paths are rejected."""
    plain = path.partition("?")[0]
    if any(part in plain for part in ("..", "//", "\\", "%")):
        return False
    return plain == PATH or plain.startswith(f"{PATH}/")


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"
    timeout = LONGEST * 2

    def address_string(self) -> str:
        """A unix socket has no address."""
        return "container"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name.
        """Does not log: every request would be too much."""

    def _pass_on(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not lets_through(self.path):
            self._refuse(HTTPStatus.FORBIDDEN, b'{"detail": "only the paths for agents"}', length)
        elif not length.isdigit() or int(length) > MOST_BODY or "Transfer-Encoding" in self.headers:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b'{"detail": "at most 1 MiB"}', length)
        else:
            self._forward(self.rfile.read(int(length)))

    do_GET = do_POST = _pass_on  # noqa: N815 - names that http.server looks for.

    def _refuse(self, status: int, reason: bytes, length: str) -> None:
        """Responds after reading the request body: closing a socket with unread data discards the response."""
        remaining = min(int(length), MOST_DROPPED) if length.isdigit() else 0
        while remaining > 0 and (dropped := self.rfile.read(min(remaining, 2**16))):
            remaining -= len(dropped)
        self._answer(status, reason, {})

    def _forward(self, body: bytes) -> None:
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        try:
            response = self.server.client.request(self.command, self.path, content=body, headers=headers)
        except httpx.LocalProtocolError:  # The request's own fault: it was never sent.
            self._answer(HTTPStatus.BAD_REQUEST, b'{"detail": "no request by the rules of HTTP"}', {})
            return
        except httpx.TransportError as error:
            self.server.away_at = time.monotonic()
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b'{"detail": "the API is away"}', {"retry-after": "1"})
            logger.info("agent proxy: request failed: %s", error)
            return
        self.server.note(self.command, self.path, response)
        self._answer(
            response.status_code,
            response.content,
            {name: response.headers[name] for name in _FORWARDED_HEADERS if name in response.headers},
        )

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.close_connection = self.close_connection or status >= HTTPStatus.BAD_REQUEST
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:  # Announced, or the next request would be sent into a closing connection.
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, api: str) -> None:
        self.client = httpx.Client(base_url=api, timeout=httpx.Timeout(LONGEST, connect=5.0), trust_env=False)
        self.away_at = -math.inf
        self.answers = 0
        self._lock = threading.Lock()
        super().__init__(str(path), _Handler)

    def note(self, method: str, path: str, response: httpx.Response) -> None:
        """Evaluates a response: the API or its database is unavailable, or it accepted an answer by the agent."""
        if response.is_server_error:
            self.away_at = time.monotonic()
        elif method == "POST" and path.partition("?")[0] == ANSWERS and response.is_success and _is_new(response):
            with self._lock:
                self.answers += 1


def _is_new(response: httpx.Response) -> bool:
    """Whether an answer was accepted that was not a repetition."""
    try:
        body = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and body.get("repeated") is False


class AgentApiProxy:
    """Listens until it is closed."""

    def __init__(self, path: Path, api: str) -> None:
        """Opens the socket.

        Args:
            path: of the socket; anybody who can open the file can use it, so its folder must be private.
            api: address of the API.
        """
        self.path = path
        self._server = _Server(path, api)
        path.chmod(0o666)  # The container's user is nobody; it sees the socket, not its folder.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="agent-door", daemon=True)
        self._thread.start()

    @property
    def answers(self) -> int:
        """Number of answers by the agent that the API accepted, without repetitions."""
        return self._server.answers

    def was_away(self, since: float) -> bool:
        """Whether the API was unavailable at some time since `since` (monotonic), or is now.

        A request may still wait for a hanging API although the program has given up; so, if no failure was seen, the
        API is checked once more, for at most 5 s.
        """
        return self._server.away_at >= since or not self._works()

    def _works(self) -> bool:
        try:
            return not self._server.client.get(PATH, timeout=ASK_SECONDS).is_server_error
        except httpx.TransportError:
            return False

    def close(self) -> None:
        """Stops and removes the socket. Safe to call twice."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.client.close()
        self.path.unlink(missing_ok=True)
