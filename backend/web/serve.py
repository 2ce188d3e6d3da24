"""Serves API and pages: `python -m backend.web.serve`, for containers and for `deskarena up` (on its socket: `--fd`).

SIGTERM shuts it down gracefully. First it drains for DESKARENA_DRAIN_SECONDS: `/readyz` returns 503, websockets are
closed with 1012 so that pages reconnect to another process, waiting requests are answered, and proxies that support it
are redirected (see `graceful_shutdown`). Then it stops listening, finishes running requests, and ends in bounded time.
A second signal ends the draining.
"""

import gc

# As in worker/app.py: what is imported lives as long as the process.
gc.disable()

import argparse
import contextlib
import socket
import sys
import time
from types import FrameType
from typing import Any

import uvicorn

from backend.config import Settings, settings_or_exit
from backend.db.compatibility import old_schema
from backend.domain.formats.foreign_text import make_logs_visible
from backend.services.events import end_patience
from backend.services.periodic_thread import PeriodicThread
from backend.telemetry import tracing
from backend.telemetry.logs import begin_logs, uvicorn_logs
from backend.web.app import create_app, own_version
from backend.web.graceful_shutdown import ShutdownState
from backend.web.notifications.sender_thread import make_thread

gc.freeze()
# A page makes tens of thousands of objects, few of them in cycles: by default a quarter of its time went here.
gc.set_threshold(50_000, 20, 20)
gc.enable()

FINISH_SECONDS = 20
"""Time limit for running requests after draining."""
FINISH_SECONDS_ALONE = 3
"""Time limit under `deskarena up`, where a person waits at a terminal."""
IDLE_SECONDS = 75
"""Keep-alive is longer here than in the proxy (deploy/proxy: 4 s), so that no request meets a closing connection."""


EVERY_ADDRESS = "::"
BACKLOG = 2048


class Server(uvicorn.Server):
    """Uvicorn's server, which drains before it shuts down, and sends notifications while it runs."""

    def __init__(
        self, config: uvicorn.Config, drain: ShutdownState, seconds: float, notifications: PeriodicThread
    ) -> None:
        super().__init__(config)
        self._notifications = notifications
        self._drain = drain
        self._seconds = seconds
        self._stopping = False
        self._ends_at = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal starts draining, a second one ends it.

        Runs between two instructions, so it does nothing else.
        """
        if self._stopping or not self.started:
            super().handle_exit(sig, frame)
            return
        self._stopping = True
        # Uvicorn raises it again at its end, so that the exit code reflects the signal.
        self._captured_signals.append(sig)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times per second: continues draining."""
        if self._stopping and self._drained():
            return True
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts like uvicorn, and then sends notifications."""
        await super().startup(sockets)
        self._notifications.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shuts down like uvicorn, after notifying all waiting clients."""
        end_patience()
        self._notifications.stop(0.0)
        await super().shutdown(sockets)
        tracing.end()

    def _drained(self) -> bool:
        now = time.monotonic()
        if not self._drain.draining:
            self._drain.draining = True
            self._ends_at = now + self._seconds
        end_patience()
        for connection in list(self.server_state.connections):
            # A page that is just opening its websocket is notified at the next tick.
            if getattr(connection, "handshake_complete", False):
                _say_goodbye(connection)
        return now >= self._ends_at


def _say_goodbye(websocket: Any) -> None:
    """Closes with 1012, 'the service restarts'."""
    with contextlib.suppress(OSError):
        websocket.shutdown()


def make_server(settings: Settings, *, finish_seconds: int = FINISH_SECONDS) -> Server:
    """The server for these settings, not yet listening."""
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_level=settings.log_level.lower(),
        log_config=uvicorn_logs(settings.log_format, settings.log_level.upper()) or uvicorn.config.LOGGING_CONFIG,
        access_log=False,
        use_colors=None if settings.log_format == "json" else False,  # Either would change uvicorn's own formatters.
        server_header=False,
        proxy_headers=False,  # `behind_proxy` reads them, from configured addresses only.
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=finish_seconds,
        # Nearly all bytes are pictures, which are compressed already: a frame would take 5 ms of each viewer's time.
        ws_per_message_deflate=False,
    )
    edge = app.state.edge
    return Server(config, edge.drain, settings.drain_seconds, make_thread(edge))


def listen_to_all(port: int) -> socket.socket:
    """A socket for IPv6 and IPv4; asyncio's own for `::` would be for IPv6 only."""
    dual = socket.has_dualstack_ipv6()
    return socket.create_server((EVERY_ADDRESS, port), family=socket.AF_INET6, dualstack_ipv6=dual, backlog=BACKLOG)


def main(arguments: list[str] | None = None) -> None:
    """Serves until SIGTERM. Exits with one sentence if the database is older than 0.2."""
    parser = argparse.ArgumentParser(prog="backend.web.serve", description="Serve the API and the pages.")
    parser.add_argument("--fd", type=int, help="file descriptor of an inherited listening socket")
    descriptor = parser.parse_args(arguments).fd
    make_logs_visible()
    settings = settings_or_exit()
    begin_logs(settings.log_format)
    tracing.begin("deskarena-api", own_version())
    if problem := old_schema(settings.database_url.get_secret_value()):
        sys.exit(problem)
    if descriptor is not None:
        server = make_server(settings, finish_seconds=FINISH_SECONDS_ALONE)
        server.run(sockets=[socket.socket(fileno=descriptor)])
    elif settings.host == EVERY_ADDRESS:
        make_server(settings).run(sockets=[listen_to_all(settings.port)])
    else:
        make_server(settings).run()


if __name__ == "__main__":
    main()
