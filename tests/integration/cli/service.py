"""A tiny HTTP service with scripted answers, for the real command in its own process."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


class ScriptedService:
    """Answers by method and path; records requests.

    Args:
        answers: `"GET /api/v1/runs"` -> JSON value, or a pair of status and JSON value.
        port: to listen on; 0 = any.
    """

    def __init__(self, answers: dict[str, Any], port: int = 0) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.queries: list[dict[str, list[str]]] = []
        service = self

        class ScriptedServiceHandler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                asked = f"{self.command} {self.path.partition('?')[0]}"
                is_json = self.headers.get("Content-Type", "").startswith("application/json")
                service.queries.append(parse_qs(self.path.partition("?")[2]))
                service.asked.append((asked, dict(self.headers), json.loads(body) if is_json and body else body))
                found = service.answers.get(asked, (404, {"detail": f"there is no {asked}"}))
                status, value = found if isinstance(found, tuple) else (200, found)
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = answer  # noqa: N815  names that http.server looks for

            def log_message(self, *words: object) -> None:
                """Tests read what the command prints, not what we do."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), ScriptedServiceHandler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[ScriptedService]:
    """A service for the length of a test."""
    service = ScriptedService(answers)
    try:
        yield service
    finally:
        service.stop()


def command(*words: str) -> list[str]:
    """The real command."""
    return [sys.executable, "-W", "error", "-m", "backend.cli.main", *words]


def deskarena(*words: str, server: str = "", timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the real command to its end."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("DESKARENA_")}
    given = {"DESKARENA_SERVER": server} if server else {}
    return subprocess.run(
        command(*words), capture_output=True, text=True, timeout=timeout, check=False, env={**outer, **given, **env}
    )
