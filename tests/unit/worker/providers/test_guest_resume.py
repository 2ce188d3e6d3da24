"""First requests to a resumed guest, against a minimal guest API."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.errors import GuestLost
from tests.error_codes import raises_code
from worker.desktops import GuestDesktop
from worker.providers._guest_resume import restore, wait_answer

OLD, NEW = "the-template-s-secret", "this-clone-s-secret"


class ResumingGuest(http.server.ThreadingHTTPServer):
    """Answers /probe and /restored; the first answers may be delayed by the seconds of `delays`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = OLD
        self.told: list[dict[str, Any]] = []
        self.delays: list[float] = []
        self.status = 200
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: ResumingGuest

    def _answer(self, value: dict[str, Any], status: int = 200) -> None:
        if self.headers["Authorization"] != f"Bearer {self.server.secret}":
            status, value = 401, {"error": "unauthorized", "message": "a wrong secret"}
        if status == 200 and "secret" in value:
            self.server.secret = value["secret"]
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._answer({"status": "success"})

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append(told)
        if self.server.delays:
            threading.Event().wait(self.server.delays.pop(0))
        if self.server.status != 200:
            self._answer({"error": "failed", "message": "no clock"}, self.server.status)
        else:
            self._answer({"secret": told["secret"]})

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def guest() -> Iterator[ResumingGuest]:
    made = ResumingGuest()
    yield made
    made.shutdown()
    made.server_close()


class TestRestore:
    def test_sends_time_secret_and_entropy_once(self, guest: ResumingGuest) -> None:
        restore(GuestDesktop(guest.address, OLD), NEW)
        (told,) = guest.told
        assert abs(told["time"] - time.time()) < 60
        assert (told["secret"], guest.secret) == (NEW, NEW)
        assert len(told["entropy"]) >= 64

    def test_two_clones_hear_different_entropy(self, guest: ResumingGuest) -> None:
        restore(GuestDesktop(guest.address, OLD), NEW)
        restore(GuestDesktop(guest.address, NEW), NEW)
        assert guest.told[0]["entropy"] != guest.told[1]["entropy"]

    def test_slow_response_repeats_the_time_until_it_is_fresh(self, guest: ResumingGuest) -> None:
        guest.delays = [1.1, 1.2]
        restore(GuestDesktop(guest.address, OLD), NEW)
        first, second, third = guest.told[:3]
        assert second["time"] - first["time"] >= 1.0
        assert third["time"] - second["time"] >= 1.0
        assert third["secret"] == NEW

    def test_slow_guest_is_retried_until_the_deadline(self, guest: ResumingGuest) -> None:
        guest.delays = [1.1] * 1000
        restore(GuestDesktop(guest.address, OLD), NEW, seconds=4.0)
        assert len(guest.told) >= 2
        assert guest.delays, "it is not told for ever"

    def test_a_guest_that_cannot_is_lost(self, guest: ResumingGuest) -> None:
        guest.status = 500
        with raises_code(GuestLost, "resume_failed", mentions="no clock"):
            restore(GuestDesktop(guest.address, OLD), NEW)


class TestWaitAnswer:
    def test_returns_when_the_guest_answers(self, guest: ResumingGuest) -> None:
        assert wait_answer(guest.address, OLD, seconds=60, dead=str) < 60

    def test_a_guest_with_another_secret_is_not_waited_for(self, guest: ResumingGuest) -> None:
        begun = time.monotonic()
        with raises_code(GuestLost, "desktop_unhealthy", mentions="a wrong secret"):
            wait_answer(guest.address, "another-secret-of-16", seconds=60, dead=str)
        assert time.monotonic() - begun < 40

    def test_dead_machine_is_not_waited_for(self) -> None:
        with raises_code(GuestLost, "desktop_gone", mentions="killed"):
            wait_answer("http://127.0.0.1:9", OLD, seconds=60, dead=lambda: "killed")

    def test_a_guest_that_never_answers_is_given_up(self) -> None:
        with raises_code(GuestLost, "resume_failed", mentions="0.1 s"):
            wait_answer("http://127.0.0.1:9", OLD, seconds=0.1, dead=str)
