import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.errors import GuestLost, GuestRefused
from tests.error_codes import raises_code
from tests.unit.desktops.server import Answer, GuestSocketServer, reply
from worker.desktops.wire import GuestConnection

SECRET = "secret-of-the-desktop"


@pytest.fixture
def wire(server: GuestSocketServer) -> Iterator[GuestConnection]:
    wire = GuestConnection(server.address, SECRET)
    yield wire
    wire.close()


def head_of(request: bytes) -> str:
    return request.decode().lower()


def trickle(what: bytes) -> Answer:
    """Sends a byte every 50 ms: never silent long enough for a time-out between bytes."""

    def answer(connection: socket.socket, _: bytes) -> None:
        for byte in what:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    return answer


class TestAsk:
    def test_shows_the_secret_and_takes_no_compression(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        wire.ask("GET", "/probe", seconds=5)
        assert f"authorization: bearer {SECRET}" in head_of(server.requests[0])
        assert "accept-encoding: identity" in head_of(server.requests[0])

    def test_changed_secret_is_sent(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        wire.show("other-secret")
        wire.ask("GET", "/probe", seconds=5)
        assert "bearer other-secret" in head_of(server.requests[0])

    def test_gives_body_and_media_type(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = reply(200, b"abc", "Text/Plain; charset=utf-8")
        assert wire.ask("GET", "/platform", seconds=5).decoded() == "abc"

    def test_one_connection_serves_many_requests(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        for _ in range(3):
            wire.ask("GET", "/probe", seconds=5)
        assert server.connections == 1

    def test_a_connection_that_the_guest_closed_meanwhile_is_opened_again(
        self, server: GuestSocketServer, wire: GuestConnection
    ) -> None:
        closed = threading.Event()

        def answer(connection: socket.socket, request: bytes) -> None:
            reply(200, b"{}")(connection, request)
            connection.shutdown(socket.SHUT_RDWR)
            closed.set()

        server.answer = answer
        for _ in range(3):
            closed.clear()
            wire.ask("GET", "/probe", seconds=5)
            assert closed.wait(60)

    def test_unanswered_tcp_request_loses_the_desktop(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            wire = GuestConnection(f"http://127.0.0.1:{listener.getsockname()[1]}", SECRET)
            with raises_code(GuestLost, "desktop_unreachable"):
                wire.ask("GET", "/probe", seconds=0.3)
            wire.close()


class TestLost:
    def test_unreachable_guest_is_lost(self, tmp_path: Path) -> None:
        wire = GuestConnection(f"unix:{tmp_path}/none", SECRET)
        with raises_code(GuestLost, "desktop_unreachable"):
            wire.ask("GET", "/probe", seconds=5)

    @pytest.mark.parametrize(
        "answer",
        [
            lambda connection, _: connection.shutdown(2),
            lambda connection, _: connection.sendall(b"rubbish\r\n\r\n"),
            lambda connection, _: (
                connection.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nabc"),
                connection.shutdown(2),
            ),
            reply(200, b"{}", "application/json", "Content-Encoding: gzip"),
            lambda connection, _: connection.sendall(b"HTTP/1.1 200 X\r\nX: " + b"y" * 2**20 + b"\r\n\r\n"),
        ],
        ids=["closed", "no HTTP", "cut short", "compressed", "endless head"],
    )
    def test_a_broken_reply(self, server: GuestSocketServer, wire: GuestConnection, answer: Answer) -> None:
        server.answer = answer
        with pytest.raises(GuestLost):
            wire.ask("GET", "/probe", seconds=5)

    def test_silent_server_loses_the_desktop(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = lambda *_: None
        start = time.monotonic()
        with raises_code(GuestLost, "desktop_unreachable", mentions=("GET", "/probe", "0.3")):
            wire.ask("GET", "/probe", seconds=0.3)
        assert time.monotonic() - start < 20

    @pytest.mark.parametrize("head", [b"HTTP/1.1 200 X\r\n", b"HTTP/1.1 200 X\r\nContent-Length: 900\r\n\r\n"])
    def test_a_trickle_ends_at_the_deadline(
        self, server: GuestSocketServer, wire: GuestConnection, head: bytes
    ) -> None:
        server.answer = trickle(head + b"x" * 500)
        start = time.monotonic()
        with raises_code(GuestLost, "desktop_unreachable"):
            wire.ask("GET", "/probe", seconds=0.5)
        assert time.monotonic() - start < 15

    @pytest.mark.parametrize(
        ("status", "body"),
        [
            (500, b"oops"),
            (500, b"[]"),
            (404, b"{}"),
            (302, b""),
            (401, b'{"error": "unauthorized", "message": "no"}'),
            (503, b'{"error": "hung", "message": "no answer of X"}'),
            (500, b'{"error": "internal", "message": "KeyError"}'),
        ],
    )
    def test_a_guest_that_is_not_well(
        self, server: GuestSocketServer, wire: GuestConnection, status: int, body: bytes
    ) -> None:
        server.answer = reply(status, body)
        with pytest.raises(GuestLost):
            wire.ask("GET", "/probe", seconds=5)


class TestRefused:
    @pytest.mark.parametrize(("status", "kind"), [(404, "not_found"), (504, "timeout"), (422, "unknown_key")])
    def test_the_guest_s_own_words(
        self, server: GuestSocketServer, wire: GuestConnection, status: int, kind: str
    ) -> None:
        server.answer = reply(status, json.dumps({"error": kind, "message": "because"}).encode())
        with raises_code(GuestRefused, "guest_refused") as caught:
            wire.ask("GET", "/probe", seconds=5)
        assert caught.value.kind == kind

    def test_a_long_message_is_cut(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = reply(500, json.dumps({"error": "failed", "message": "x" * 10_000}).encode())
        with pytest.raises(GuestRefused) as caught:
            wire.ask("GET", "/probe", seconds=5)
        assert len(caught.value.message) == 2000

    def test_larger_than_wanted_by_its_head(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = lambda connection, _: connection.sendall(
            b"HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\n"
        )
        with pytest.raises(GuestRefused) as caught:
            wire.ask("GET", "/file", seconds=5, most=1000)
        assert caught.value.kind == "too_large"

    def test_larger_than_wanted_without_saying_so(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        def answer(connection: socket.socket, _: bytes) -> None:
            connection.sendall(b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")
            while not server.stop.is_set():
                connection.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n")

        server.answer = answer
        with pytest.raises(GuestRefused) as caught:
            wire.ask("GET", "/file", seconds=20, most=1_000_000)
        assert caught.value.kind == "too_large"

    def test_the_next_request_works_again(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = reply(200, b"x" * 100)
        with pytest.raises(GuestRefused):
            wire.ask("GET", "/file", seconds=5, most=10)
        server.answer = reply(200, b"{}")
        assert wire.ask("GET", "/probe", seconds=5).mapping() == {}


class TestReply:
    @pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff"])
    def test_invalid_json_is_refused(self, server: GuestSocketServer, wire: GuestConnection, body: bytes) -> None:
        server.answer = reply(200, body)
        with raises_code(GuestLost, "guest_protocol_error", mentions="JSON"):
            wire.ask("GET", "/probe", seconds=5).decoded()

    def test_json_that_is_not_an_object_is_refused(self, server: GuestSocketServer, wire: GuestConnection) -> None:
        server.answer = reply(200, b"[1]")
        with raises_code(GuestLost, "guest_protocol_error", mentions="JSON"):
            wire.ask("GET", "/probe", seconds=5).mapping()
