"""A guest API without a machine behind it: as much as an attempt asks that only looks. See `tiny_answer.sh`."""

import io
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from backend.domain.model.run import ScreenSize

SCREEN = ScreenSize(width=640, height=480)
API = "1.1"


class LightGuest:
    """Answers on a port of an address until it is closed."""

    def __init__(self, address: str, secret: str) -> None:
        self.secret, self.closed = secret, threading.Event()
        self._server = ThreadingHTTPServer((address, 0), self._handler())
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="light guest", daemon=True).start()

    def close(self) -> None:
        """Nobody answers any more."""
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        """Status, media type and bytes."""
        if (method, path) == ("GET", "/frame"):
            return 200, "image/jpeg", picture()
        answer_body = self._said(method, path, body)
        if answer_body is None:
            return 404, "application/json", b'{"status": "error", "error": "not_found", "message": "no such route"}'
        return 200, "application/json", json.dumps(answer_body).encode()

    def _said(self, method: str, path: str, body: bytes) -> dict[str, Any] | None:
        screen = {"width": SCREEN.width, "height": SCREEN.height, "scale": 1.0}
        about = {"api": API, "platform": "Linux", "clock": time.time()}
        match method, path:
            case "GET", "/probe":
                return {**about, "screen": screen, "capabilities": []}
            case "GET", "/health":
                disks = [{"path": "/", "free": 10**9, "size": 2 * 10**9}]
                screen_state = {**screen, "black": False, "locked": ""}
                facts = {"memory_free": 10**9, "pending": [], "licence_days": None, "processes": []}
                return {**about, **facts, "screen": screen_state, "disks": disks}
            case "GET", "/stable":
                return {"status": "success", "stable": True, "elapsed": 0}
            case "GET", "/egress":
                self.closed.wait()
            case "POST", "/restored":
                self.secret = json.loads(body)["secret"]
                return {"status": "success"}
            case "POST", "/trust" | "/settled" | "/input":
                return {"status": "success"}
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        guest = self

        class LightGuestHandler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name.
                """Says nothing."""

            def do_GET(self) -> None:
                self._answer()

            def do_POST(self) -> None:
                self._answer()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, media, data = 401, "application/json", b'{"error": "unauthorized", "message": "no"}'
                if self.headers.get("Authorization") == f"Bearer {guest.secret}":
                    status, media, data = guest.answer(self.command, self.path.partition("?")[0], body)
                self.send_response(status)
                self.send_header("Content-Type", media)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return LightGuestHandler


def picture() -> bytes:
    """Content of its screen."""
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (SCREEN.width, SCREEN.height), "steelblue").save(out, "JPEG")
    return out.getvalue()
