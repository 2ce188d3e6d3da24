"""The private broker."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from backend.cli.embedded.broker import start_broker
from backend.cli.embedded.server import RunningServer
from backend.cli.errors import StackError
from tests.error_codes import raises_code


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    server = start_broker(tmp_path_factory.mktemp("broker"))
    yield server
    server.stop()


def ask(server: RunningServer, *lines: str) -> list[str]:
    """Sends inline commands and reads one line of answer for each."""
    with socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0), 5) as connection:
        connection.sendall("".join(f"{line}\r\n" for line in lines).encode())
        with connection.makefile("r") as answers:
            return [answers.readline().strip() for _ in lines]


class TestAccess:
    def test_refuses_without_a_password(self, server: RunningServer) -> None:
        assert ask(server, "PING") == ["-NOAUTH Authentication required."]

    def test_answers_with_its_password(self, server: RunningServer) -> None:
        assert ask(server, f"AUTH {urlsplit(server.url).password}", "PING") == ["+OK", "+PONG"]

    def test_listens_on_loopback_only(self, server: RunningServer) -> None:
        connections = psutil.Process(server.process.pid).net_connections("inet")
        assert {c.laddr[0] for c in connections if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}

    def test_config_commands_are_disabled(self, server: RunningServer) -> None:
        login = f"AUTH {urlsplit(server.url).password}"
        assert ask(server, login, "CONFIG SET dir /tmp")[1].startswith("-ERR")

    def test_no_argument_list_shows_the_password(self, server: RunningServer) -> None:
        assert str(urlsplit(server.url).password) not in " ".join(psutil.Process(server.process.pid).cmdline())

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root: an ordinary user's broker runs as that user")
    def test_does_not_run_as_root(self, server: RunningServer) -> None:
        assert 0 not in psutil.Process(server.process.pid).uids()


class TestRestart:
    def test_restarted_broker_keeps_its_port(self, tmp_path: Path) -> None:
        first = start_broker(tmp_path)
        first.stop()
        second = start_broker(tmp_path, port=urlsplit(first.url).port)
        second.stop()
        assert first.url == second.url

    def test_a_taken_port_is_an_error(self, tmp_path: Path) -> None:
        with (
            socket.create_server(("127.0.0.1", 0)) as other,
            raises_code(StackError, "process_crashed", mentions="broker"),
        ):
            start_broker(tmp_path, port=other.getsockname()[1])

    def test_leaves_no_files_but_password_and_log(self, tmp_path: Path) -> None:
        server = start_broker(tmp_path)
        ask(server, f"AUTH {urlsplit(server.url).password}", "SET key value", "SAVE")
        server.stop()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["broker.password", "logs"]
