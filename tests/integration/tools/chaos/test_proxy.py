import socket
import threading
import time
from collections.abc import Iterator

import pytest

from tools.chaos.proxy import LinkMode, LinkProcess


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """An echo server."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            while True:
                try:
                    data = connection.recv(65536)
                except OSError:
                    return
                if not data:
                    return
                connection.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def lines(echo: int) -> Iterator[LinkProcess]:
    made = LinkProcess({"a>b": echo})
    yield made
    made.close()


@pytest.fixture
def connection(lines: LinkProcess) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", lines.ports["a>b"]), timeout=10) as made:
        yield made


class TestLines:
    def test_a_link_hands_on_both_ways(self, connection: socket.socket) -> None:
        connection.sendall(b"hello")
        assert connection.recv(10) == b"hello"

    def test_a_hole_holds_what_was_sent_and_hands_it_on_afterwards(
        self, lines: LinkProcess, connection: socket.socket
    ) -> None:
        lines.set("a>b", LinkMode.HOLE)
        connection.sendall(b"hello")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(10)
        connection.settimeout(10)
        lines.set("a>b", LinkMode.PASS)
        assert connection.recv(10) == b"hello"

    def test_a_refusing_link_resets_what_there_is_and_what_comes(
        self, lines: LinkProcess, connection: socket.socket
    ) -> None:
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
        lines.set("a>b", LinkMode.REFUSE)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        # It may be reset as soon as it is made.
        with (
            pytest.raises(ConnectionResetError),
            socket.create_connection(("127.0.0.1", lines.ports["a>b"]), timeout=10) as other,
        ):
            other.recv(1)
        lines.set("a>b", LinkMode.PASS)
        with socket.create_connection(("127.0.0.1", lines.ports["a>b"]), timeout=10) as other:
            other.sendall(b"y")
            assert other.recv(1) == b"y"

    def test_a_slow_link_takes_its_time(self, lines: LinkProcess, connection: socket.socket) -> None:
        lines.set("a>b", LinkMode.SLOW, latency=0.2)
        began = time.monotonic()
        connection.sendall(b"hello")
        assert connection.recv(10) == b"hello"
        assert time.monotonic() - began >= 0.4

    def test_a_narrow_link_hands_on_so_many_bytes_a_second(self, lines: LinkProcess, connection: socket.socket) -> None:
        lines.set("a>b", LinkMode.SLOW, rate=100_000)
        began, left = time.monotonic(), 20_000
        connection.sendall(bytes(left))
        while left:
            left -= len(connection.recv(left))
        assert time.monotonic() - began >= 0.35
