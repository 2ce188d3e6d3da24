"""A hostile task looks for a way out over the network: to the host, to a neighbour, to the world."""

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.desktop_supervisor.helpers import SandboxedGuest, desktop
from worker.desktop_supervisor.client import DesktopSupervisorClient

pytestmark = pytest.mark.desktop

TRY = """
import json, socket, sys
found = {}
for family, kind, address in json.loads(sys.argv[1]):
    address = tuple(address) if isinstance(address, list) else address
    try:
        with socket.socket(getattr(socket, family), getattr(socket, kind)) as way:
            way.settimeout(2)
            way.connect(address)
            found[str(address)] = "connected"
    except OSError as error:
        found[str(address)] = error.strerror or str(error)
print(json.dumps(found))
"""


def attempts(guest: SandboxedGuest, *addresses: tuple[str, str, object]) -> dict[str, str]:
    """Result of connecting from inside."""
    done = guest.run("/usr/bin/python3", "-c", TRY, json.dumps(addresses))
    assert done["returncode"] == 0, done
    found: dict[str, str] = json.loads(done["output"])
    return found


@contextmanager
def listening(family: int, address: Any) -> Iterator[socket.socket]:
    """A server on the host, which certainly can be reached from the host."""
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        with socket.socket(family) as check:
            check.connect(server.getsockname())
        yield server


class TestHost:
    def test_no_port_of_the_host_can_be_reached(self, guest: SandboxedGuest) -> None:
        """The same for API, broker and every other server that listens on loopback or on all addresses."""
        with listening(socket.AF_INET, ("127.0.0.1", 0)) as local, listening(socket.AF_INET, ("0.0.0.0", 0)) as wide:  # noqa: S104
            ports = [local.getsockname()[1], wide.getsockname()[1]]
            found = attempts(guest, *[("AF_INET", "SOCK_STREAM", ["127.0.0.1", port]) for port in ports])
        assert set(found.values()) == {"Connection refused"}

    def test_our_database_cannot_be_reached(self, guest: SandboxedGuest, postgres_server: str) -> None:
        from sqlalchemy.engine import make_url

        url = make_url(postgres_server)
        folder = str(url.query.get("host") or url.host or "")
        port = url.port or int(str(url.query.get("port", 5432)))
        name = f"{folder}/.s.PGSQL.{port}"
        found = attempts(guest, ("AF_INET", "SOCK_STREAM", ["127.0.0.1", port]), ("AF_UNIX", "SOCK_STREAM", name))
        assert "connected" not in found.values()
        assert found[name] == "No such file or directory"

    def test_no_abstract_socket_of_the_host_can_be_reached(self, guest: SandboxedGuest) -> None:
        name = f"\0deskarena-test-{os.getpid()}"
        with listening(socket.AF_UNIX, name):
            assert attempts(guest, ("AF_UNIX", "SOCK_STREAM", name))[name] == "Connection refused"

    def test_no_socket_file_of_the_host_can_be_reached(self, guest: SandboxedGuest) -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            Path(folder).chmod(0o777)
            path = f"{folder}/server"
            with listening(socket.AF_UNIX, path):
                Path(path).chmod(0o777)
                assert attempts(guest, ("AF_UNIX", "SOCK_STREAM", path))[path] == "No such file or directory"


class TestWorld:
    def test_has_only_loopback_and_no_route(self, guest: SandboxedGuest) -> None:
        shown = guest.run("cat", "/proc/net/dev")["output"].splitlines()[2:]
        assert [line.split(":")[0].strip() for line in shown] == ["lo"]
        assert guest.run("cat", "/proc/net/route")["output"].splitlines()[1:] == []

    def test_no_address_is_reachable_not_even_link_local(self, guest: SandboxedGuest) -> None:
        """Connecting a datagram socket sends nothing: it only asks the kernel for a route."""
        addresses = ["169.254.169.254", "8.8.8.8", "192.168.0.1", "10.0.0.1"]
        found = attempts(guest, *[("AF_INET", "SOCK_DGRAM", [address, 53]) for address in addresses])
        assert set(found.values()) == {"Network is unreachable"}

    def test_no_name_is_resolved(self, guest: SandboxedGuest) -> None:
        code = "import socket; socket.getaddrinfo('example.org', 80)"
        done = guest.run("/usr/bin/python3", "-c", code)
        assert "gaierror" in done["error"]

    @pytest.mark.parametrize("family", ["AF_VSOCK", "AF_PACKET", "AF_ALG", "AF_BLUETOOTH", "AF_CAN", "AF_TIPC"])
    def test_no_other_family_of_sockets_can_be_made(self, guest: SandboxedGuest, family: str) -> None:
        """Virtual machine sockets above all: they reach the hypervisor from any network namespace."""
        code = f"import socket; socket.socket(socket.{family}, socket.SOCK_STREAM)"
        assert "Address family not supported" in guest.run("/usr/bin/python3", "-c", code)["error"]

    def test_programs_reach_each_other_on_loopback(self, guest: SandboxedGuest) -> None:
        """Programs of a desktop may talk with each other: DevTools and the like."""
        code = (
            "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname());"
            "s.accept()[0].send(b'1'); print(c.recv(1).decode())"
        )
        assert guest.python(code) == 1


class TestNeighbour:
    def test_neither_guest_api_nor_screen_nor_ports_of_a_neighbour_can_be_reached(
        self, client: DesktopSupervisorClient
    ) -> None:
        serve = (
            "import socket, time\n"
            "a = socket.create_server(('127.0.0.1', 4444))\n"
            "x = socket.socket(socket.AF_UNIX); x.bind('\\0/tmp/.X11-unix/X0'); x.listen()\n"
            "f = socket.socket(socket.AF_UNIX); f.bind('/tmp/X0'); f.listen()\n"
            "open('/tmp/up', 'w').close()\n"
            "while True: time.sleep(60)\n"
        )
        ways: list[tuple[str, str, object]] = [
            ("AF_INET", "SOCK_STREAM", ["127.0.0.1", 4444]),
            ("AF_UNIX", "SOCK_STREAM", "\0/tmp/.X11-unix/X0"),
            ("AF_UNIX", "SOCK_STREAM", "/tmp/X0"),
        ]
        with desktop(client) as neighbour, desktop(client) as guest:
            neighbour.start("/usr/bin/python3", "-c", serve)
            neighbour.run("sh", "-c", "while [ ! -e /tmp/up ]; do sleep 0.01; done")
            assert set(attempts(neighbour, *ways).values()) == {"connected"}
            ways.append(("AF_UNIX", "SOCK_STREAM", neighbour.kept.socket))
            assert "connected" not in attempts(guest, *ways).values()

    def test_guest_api_socket_has_no_replaceable_file(self, guest: SandboxedGuest) -> None:
        bound = guest.run("cat", "/proc/net/unix")["output"]
        assert guest.kept.socket not in bound
        assert guest.run("ls", guest.kept.socket)["returncode"] != 0
