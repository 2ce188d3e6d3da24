"""Endpoints that are set up, and what they say when they are asked for their models."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backend.domain import registry
from tests.factories.models import KEY, LIVE, endpoint
from worker.models import _listing
from worker.models._listing import answers
from worker.models.openai_chat import OpenAIChat


class ListingServer(http.server.ThreadingHTTPServer):
    """Answers each GET with a status, and records the requests."""

    daemon_threads = True

    def __init__(self, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.asked, self.over = status, list[tuple[str, dict[str, str]]](), threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:  # noqa: N802 - the library's name
        owner: Any = self.server
        owner.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        if not owner.status:
            owner.over.wait(30)
            return
        self.send_response(owner.status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(status: int) -> Iterator[ListingServer]:
    with ListingServer(status) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load("worker.models")


class TestAnswers:
    @pytest.mark.parametrize("api", LIVE)
    def test_model_list_request_sends_the_key(self, api: str) -> None:
        with serving(200) as server:
            assert answers(endpoint(api, server.address)) == ""
        ((path, headers),) = server.asked
        assert path == "/v1/models"
        assert KEY in " ".join(headers.values())

    @pytest.mark.parametrize("status", [401, 403])
    def test_rejected_key_is_reported(self, status: int) -> None:
        with serving(status) as server:
            assert answers(endpoint("openai_chat", server.address)) == f"rejected the key (status {status})"

    @pytest.mark.parametrize("status", [404, 405])
    def test_missing_model_list_counts_as_a_response(self, status: int) -> None:
        with serving(status) as server:
            assert answers(endpoint("openai_chat", server.address)) == ""

    def test_server_error_is_reported(self) -> None:
        with serving(500) as server:
            assert answers(endpoint("openai_chat", server.address)) == "responded with status 500"

    def test_unreachable_server_is_reported_without_the_key(self) -> None:
        why = answers(endpoint("openai_chat", "http://127.0.0.1:1/v1"))
        assert why is not None
        assert why.startswith("does not respond: ")
        assert KEY not in why

    def test_silent_server_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_listing, "SECONDS", 0.3)
        with serving(0) as server:
            why = answers(endpoint("openai_chat", server.address))
        assert why is not None
        assert why.startswith("does not respond: ")

    def test_a_cassette_is_read(self, tmp_path: Path) -> None:
        tape = tmp_path / "tape.jsonl"
        tape.write_text("")
        assert answers(endpoint("recorded", cassette=tape)) == ""
        tape.write_text("no JSON")
        why = answers(endpoint("recorded", cassette=tape))
        assert why is not None
        assert "tape.jsonl, line 1" in why

    def test_api_without_a_model_list_is_not_contacted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(OpenAIChat, "listing")
        assert answers(endpoint("openai_chat", "http://127.0.0.1:1/v1")) is None
