"""A virtual machine's way out, over lines that the worker keeps open: a real guest server and a real gateway."""

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, unix_connect

from backend.domain.errors import NotFound
from backend.domain.machines.egress_rules import EgressRules
from backend.services.artifacts.egress_policy import EgressPolicy
from tests.fakes.origin_server import origin, reply
from tests.integration.guest_server.session import SECRET, RunningSession
from tests.waiting import until
from worker.egress import Gateway, Gateways, GuestTunnels
from worker.egress.guest_tunnels import IDLE_LINES

pytestmark = pytest.mark.desktop
LARGE = bytes(range(256)) * 16_384


def fetch(sha256: str) -> bytes:
    if sha256 != "1" * 64:
        raise NotFound("it is not in the store")
    return LARGE


@pytest.fixture(scope="module")
def proxy() -> str:
    """Where the session's own end listens: a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, proxy: str) -> Iterator[RunningSession]:
    way_out = {"DESKARENA_EGRESS_PROXY": proxy, "DESKARENA_EGRESS_LINES": "1"}
    limits = {"DESKARENA_LIMIT_LINES": "6", "DESKARENA_LIMIT_LINE_SECONDS": "1.5"}
    with RunningSession(tmp_path_factory.mktemp("machine"), variables=way_out | limits) as started:
        yield started


@pytest.fixture
def gateways() -> Iterator[Gateways]:
    made = Gateways(reach=EgressPolicy(private_hosts=("here.example",)), resolver=lambda *_: ["127.0.0.1"])
    yield made
    made.close()


@pytest.fixture
def gateway(gateways: Gateways, tmp_path: Path) -> Iterator[Gateway]:
    made = gateways.open(tmp_path / "gateway")
    made.allow(EgressRules(files={"http://files.example/large": "1" * 64}), fetch)
    yield made
    made.close()


@pytest.fixture
def lines(gateways: Gateways, gateway: Gateway, machine: RunningSession, tmp_path: Path) -> Iterator[GuestTunnels]:
    made = gateways.lines(f"unix:{machine.socket_path}", SECRET, tmp_path / "gateway")
    assert gateway is not None
    until(lambda: made.idle == 1)
    yield made
    made.close()


@pytest.fixture
def web(proxy: str) -> Iterator[httpx.Client]:
    with httpx.Client(proxy=proxy, timeout=30, trust_env=False) as client:
        yield client


def program_of(proxy: str) -> socket.socket:
    """A connection as a program of the machine makes it."""
    return socket.create_connection(("127.0.0.1", int(proxy.rpartition(":")[2])), timeout=30)


def line(machine: RunningSession, held: ExitStack) -> ClientConnection:
    """A line as the worker opens it, until the end of the test."""
    headers = {"Authorization": f"Bearer {SECRET}"}
    made = unix_connect(str(machine.socket_path), "ws://guest/egress", additional_headers=headers, compression=None)
    return held.enter_context(made)


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.mark.usefixtures("lines")
class TestThrough:
    def test_a_stored_file_comes_whole(self, web: httpx.Client) -> None:
        assert web.get("http://files.example/large").content == LARGE

    def test_a_forbidden_host_is_refused_with_a_reason(self, web: httpx.Client) -> None:
        answer = web.get("http://elsewhere.example/")
        assert (answer.status_code, "may not reach elsewhere.example:80" in answer.text) == (403, True)

    def test_more_connections_than_lines_wait(self, proxy: str) -> None:
        """As a page with many pictures asks for them: each finds a line, because another one is opened at once."""
        port = int(proxy.rpartition(":")[2])
        got: list[int] = []

        def ask() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "http://files.example/large")
            got.append(len(connection.getresponse().read()))
            connection.close()

        askers = [threading.Thread(target=ask) for _ in range(4 * IDLE_LINES)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join(60)
        assert got == [len(LARGE)] * len(askers)


class TestBothWays:
    def test_a_tunnel_carries_until_either_side_ends(self, gateway: Gateway, lines: GuestTunnels, proxy: str) -> None:
        with origin() as server, program_of(proxy) as program:
            server.pages["/"] = reply(b"hello")
            gateway.allow(EgressRules(hosts=(f"here.example:{server.port}",)), fetch)
            program.sendall(f"CONNECT here.example:{server.port} HTTP/1.1\r\n\r\n".encode())
            assert program.recv(100).startswith(b"HTTP/1.1 200")
            program.sendall(b"GET / HTTP/1.0\r\n\r\n")
            program.shutdown(socket.SHUT_WR)
            said = b""
            while data := program.recv(65536):
                said += data
        assert said.endswith(b"hello")
        until(lambda: not lines.busy)

    def test_lines_are_closed_with_all_that_they_carry(self, lines: GuestTunnels, proxy: str) -> None:
        with program_of(proxy) as program:
            program.sendall(b"GET http://files.example/large HTTP/1.1\r\n")  # Not the end of the request.
            until(lambda: lines.busy)
            lines.close()
            assert program.recv(100) == b""
        assert (lines.idle, lines.busy) == (0, 0)
        lines.close()


class TestWithoutLines:
    def test_waiting_programs_see_the_connection_close(self, machine: RunningSession, proxy: str) -> None:
        assert machine.process.poll() is None
        with program_of(proxy) as program:
            program.sendall(b"GET http://files.example/large HTTP/1.1\r\n\r\n")
            assert program.recv(100) == b""


class TestGuestEnd:
    def test_lines_that_wait_are_bounded(self, machine: RunningSession, held: ExitStack) -> None:
        waiting = [line(machine, held) for _ in range(6)]
        with pytest.raises(InvalidStatus) as caught:
            line(machine, held)
        assert caught.value.response.status_code == 409
        waiting[0].close()
        line(machine, held)

    def test_a_line_that_speaks_first_is_ended(self, machine: RunningSession, held: ExitStack) -> None:
        early = line(machine, held)
        early.send(b"answer to no question")
        with pytest.raises(ConnectionClosed):
            early.recv(timeout=10)

    def test_a_desktop_with_another_way_out_has_no_lines(self, session: RunningSession, held: ExitStack) -> None:
        with pytest.raises(InvalidStatus) as caught:
            line(session, held)
        assert caught.value.response.status_code == 501
