"""Serves the metrics of this worker process to Prometheus. Errors never affect its work."""

import hmac
import logging
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from backend.addresses import is_loopback
from backend.config import Settings
from backend.rotating_secrets import current
from backend.telemetry.metrics import MEDIA_TYPE, metrics_text

PATH = "/metrics"
logger = logging.getLogger(__name__)


class MetricsServer:
    """A small HTTP server in threads of its own: `GET /metrics`, with the metrics token if there is one.

    Attributes:
        port: on which it listens; 0 before `start` and if it cannot listen.
    """

    def __init__(self, settings: Settings) -> None:
        """Listens at `settings.worker_metrics_host` and `worker_metrics_port`."""
        self.port = 0
        self._address = (settings.worker_metrics_host, settings.worker_metrics_port)
        self._token = current(settings, "metrics_token")
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Starts to listen, or logs why it cannot, such as another worker that has the port."""
        host = self._address[0]
        if not self._token() and not is_loopback(host):
            logger.error("no metrics are served: DESKARENA_METRICS_TOKEN is needed to listen on %s", host)
            return
        try:
            server = self._server = ThreadingHTTPServer(self._address, _handler(self._token))
        except OSError as error:
            logger.error("no metrics are served: %s port %d: %s", *self._address, error)  # noqa: TRY400 - enough.
            return
        server.daemon_threads = True
        self.port = server.server_address[1]
        Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    def stop(self) -> None:
        """Stops listening. Safe to call twice."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def _handler(current_token: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class MetricsHandler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:  # noqa: N802 - the base's name
            token = current_token()
            if self.path.partition("?")[0] != PATH:
                self._answer(404, b"not found\n", "text/plain")
            elif token and not hmac.compare_digest(
                self.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()
            ):
                self._answer(401, b"send the metrics token as 'Authorization: Bearer TOKEN'\n", "text/plain")
            else:
                self._answer(200, metrics_text(), MEDIA_TYPE)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Scrapes are too many for the log."""

        def _answer(self, status: int, body: bytes, media_type: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return MetricsHandler
