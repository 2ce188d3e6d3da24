"""Raw bytes to ports of the desktop."""

import socket
import threading
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, unix_connect

from tests.integration.guest_server.session import RunningSession

pytestmark = pytest.mark.desktop


def serve_echo(listener: socket.socket) -> None:
    """Gives back what comes; ends the connection at `bye`."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)
                if data.endswith(b"bye"):
                    break


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """An echo server on this machine: the tests' session shares its network namespace."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve_echo, args=(listener,))
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(60)


@pytest.fixture(scope="module")
def closed() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, port: int, closed: int) -> Iterator[RunningSession]:
    variables = {"DESKARENA_TUNNEL_PORTS": f"{port},{closed}"}
    with RunningSession(tmp_path_factory.mktemp("tunnel"), variables=variables) as started:
        yield started


def tunnel(session: RunningSession, port: int | str) -> ClientConnection:
    headers = {"Authorization": f"Bearer {session.secret}"}
    return unix_connect(
        str(session.socket_path), f"ws://guest/tunnel/{port}", additional_headers=headers, max_size=2**24
    )


class TestTunnel:
    def test_bytes_go_both_ways_unchanged(self, session: RunningSession, port: int) -> None:
        sent = bytes(range(256)) * 4000
        with tunnel(session, port) as connection:
            connection.send(sent)
            got = b""
            while len(got) < len(sent):
                piece = connection.recv(timeout=10)
                assert isinstance(piece, bytes)
                got += piece
        assert got == sent

    def test_the_other_side_s_end_ends_it(self, session: RunningSession, port: int) -> None:
        with tunnel(session, port) as connection:
            connection.send(b"bye")
            assert connection.recv(timeout=10) == b"bye"
            with pytest.raises(ConnectionClosed):
                connection.recv(timeout=10)

    @pytest.mark.parametrize("other", ["22", "0", "99999", "x", "-1", "٢٢"])
    def test_a_port_off_the_allow_list(self, session: RunningSession, other: str) -> None:
        with pytest.raises(InvalidStatus) as caught:
            tunnel(session, other)
        assert caught.value.response.status_code == 403
        assert b"allow-list" in (caught.value.response.body or b"")

    def test_closed_port_ends_the_connection(self, session: RunningSession, closed: int) -> None:
        with pytest.raises(InvalidStatus) as caught:
            tunnel(session, closed)
        assert caught.value.response.status_code == 502
