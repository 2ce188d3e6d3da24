"""A kubelet's server: the logs of its pods, which a real API server fetches from it."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from tests.fakes.kubernetes.kinds import Json
from tests.fakes.kubernetes.state import Logs
from tests.fakes.kubernetes.subresources import cut
from tests.fakes.kubernetes.tls import server_context

Find = Callable[[str, str], Json | None]


class LogServer:
    """HTTPS on a loopback port, for all nodes.

    Attributes:
        port: which.
    """

    def __init__(self, find: Find, logs: Logs) -> None:
        """Serves. Args: find: a pod by namespace and name; logs: what its container has said."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(find, logs))
        self._server.socket = server_context().wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Serves no more."""
        self._server.shutdown()
        self._server.server_close()


def _handler(find: Find, logs: Logs) -> type[BaseHTTPRequestHandler]:
    class KubeletLogHandler(BaseHTTPRequestHandler):
        """`/containerLogs/NAMESPACE/POD/CONTAINER`."""

        def do_GET(self) -> None:  # noqa: N802 - the name that the library asks for
            """One log."""
            asked = urlsplit(self.path)
            query = dict(parse_qsl(asked.query))
            log = _said(find, logs, asked.path.split("/")[1:], query)
            self.send_response(404 if log is None else 200)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(log or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
            """Says nothing."""

    return KubeletLogHandler


def _said(find: Find, logs: Logs, parts: list[str], query: dict[str, str]) -> bytes | None:
    if len(parts) != 4 or parts[0] != "containerLogs":
        return None
    pod = find(parts[1], parts[2])
    return None if pod is None else cut(logs(pod, parts[3], query.get("previous") == "true"), query)
