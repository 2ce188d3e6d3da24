"""A socket through which a container reaches the API's paths for agents, and nothing else of the network or the API."""

import logging
import math
import socketserver
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import httpx

logger = logging.getLogger(__name__)
PATH = "/api/v1/agent"
ANSWERS = f"{PATH}/actions"
MOST_BODY = 2**20
MOST_DROPPED = 2**23
LONGEST = 90.0
ASK_SECONDS = 5.0
_KEPT = ("content-type", "cache-control", "www-authenticate", "retry-after")


def lets_through(path: str) -> bool:
    """Whether an address is one of those for agents. What could be read in two ways is not."""
    plain = path.partition("?")[0]
    if any(part in plain for part in ("..", "//", "\\", "%")):
        return False
    return plain == PATH or plain.startswith(f"{PATH}/")


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"
    timeout = LONGEST * 2

    def address_string(self) -> str:
        """A socket file has no address."""
        return "container"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name.
        """Every request of an agent is too many words for a log."""

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
        """Answers after reading what was sent: a socket that is closed with something unread loses its answer."""
        left = min(int(length), MOST_DROPPED) if length.isdigit() else 0
        while left > 0 and (dropped := self.rfile.read(min(left, 2**16))):
            left -= len(dropped)
        self._answer(status, reason, {})

    def _forward(self, body: bytes) -> None:
        headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
        try:
            got = self.server.client.request(self.command, self.path, content=body, headers=headers)
        except httpx.LocalProtocolError:  # The request's own fault: it was never sent.
            self._answer(HTTPStatus.BAD_REQUEST, b'{"detail": "no request by the rules of HTTP"}', {})
            return
        except httpx.TransportError as error:
            self.server.away_at = time.monotonic()
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b'{"detail": "the API is away"}', {"retry-after": "1"})
            logger.info("a container's request was not answered: %s", error)
            return
        self.server.note(self.command, self.path, got)
        self._answer(got.status_code, got.content, {name: got.headers[name] for name in _KEPT if name in got.headers})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.close_connection = self.close_connection or status >= HTTPStatus.BAD_REQUEST
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        if self.close_connection:  # Said, or the next request is sent into a closing connection.
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

    def note(self, method: str, path: str, got: httpx.Response) -> None:
        """What the API said: that it, or what it stands on, is away; or that it took an answer of the agent's."""
        if got.is_server_error:
            self.away_at = time.monotonic()
        elif method == "POST" and path.partition("?")[0] == ANSWERS and got.is_success and _is_new(got):
            with self._lock:
                self.answers += 1


def _is_new(got: httpx.Response) -> bool:
    """Whether an answer was taken that had not been given before."""
    try:
        body = got.json()
    except ValueError:
        return False
    return isinstance(body, dict) and body.get("repeated") is False


class AgentApiProxy:
    """Listens until it is closed."""

    def __init__(self, path: Path, api: str) -> None:
        """Opens it.

        Args:
            path: of the socket; anybody who can see the file may use it, so its folder is ours alone.
            api: address of the API.
        """
        self.path = path
        self._server = _Server(path, api)
        path.chmod(0o666)  # The container's user is nobody; it sees the socket, not its folder.
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="agent-door", daemon=True)
        self._thread.start()

    @property
    def answers(self) -> int:
        """Answers of the agent's that the API took; those that it had been given before do not count again."""
        return self._server.answers

    def was_away(self, since: float) -> bool:
        """Whether the API could not do its work at some moment since `since` (monotonic), or cannot now.

        A request may still wait for an API that hangs while the program has given up: so it is asked once more, for 5 s
        at most, if nothing else was seen.
        """
        return self._server.away_at >= since or not self._works()

    def _works(self) -> bool:
        try:
            return not self._server.client.get(PATH, timeout=ASK_SECONDS).is_server_error
        except httpx.TransportError:
            return False

    def close(self) -> None:
        """Takes no more requests and removes the socket. Safe to call twice."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.client.close()
        self.path.unlink(missing_ok=True)
