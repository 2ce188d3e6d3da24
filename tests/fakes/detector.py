"""An element detector on loopback with OmniParser's protocol that can misbehave on demand."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

FOUND = [
    {"type": "text", "bbox": [0.1, 0.2, 0.3, 0.4], "interactivity": False, "content": "Total"},
    {"type": "icon", "bbox": [0.5, 0.5, 0.6, 0.6], "interactivity": True, "content": None},
]  # fmt: skip


class FakeDetector:
    """Its answer and the requests it got.

    Attributes:
        answer: bytes of the body, or what is made JSON.
        status: of the answer.
        location: where it redirects to.
        silent: holds the answer back until it is set free.
        asked: bodies of the requests.
    """

    def __init__(self) -> None:
        self.answer: Any = {"parsed_content_list": FOUND, "som_image_base64": "", "latency": 0.1}
        self.status = 200
        self.location = ""
        self.silent: threading.Event | None = None
        self.asked: list[dict[str, Any]] = []
        self.address = ""

    @contextmanager
    def serving(self) -> Iterator["FakeDetector"]:
        """Listens on a port of loopback."""
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            self.address = f"http://127.0.0.1:{server.server_port}/parse/"
            try:
                yield self
            finally:
                if self.silent is not None:
                    self.silent.set()
                server.shutdown()
                thread.join()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        detector = self

        class DetectorHandler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802 - the base class's name
                detector.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if detector.silent is not None:
                    detector.silent.wait(30)
                answer = detector.answer
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(detector.status)
                if detector.location:
                    self.send_header("Location", detector.location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                """Quiet."""

        return DetectorHandler
