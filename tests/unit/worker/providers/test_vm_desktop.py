"""An attempt's virtual machine without a machine: its gateway and its lines are real, and its guest is hostile."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from websockets.http11 import Request
from websockets.server import ServerProtocol

from backend.domain.errors import ClusterLost
from backend.domain.machines.desktop_end import DesktopEnd, EndCause
from backend.domain.machines.egress_rules import EgressRules
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec
from tests.error_codes import raises_code
from tests.factories.machine_images import image_of
from tests.factories.vm_hosts import EMULATING_HOST
from tests.fakes.supervisor import FakeSupervisor
from tests.waiting import until
from worker.desktops import GuestDesktop
from worker.egress import Gateways
from worker.providers._vm_desktop import QemuDesktop
from worker.providers.vm_factory import StartedVm, address_of
from worker.providers.vm_order import VmRequest

SPEC = DesktopSpec(screen=ScreenSize(width=1280, height=800))
HOST = EMULATING_HOST
ASKS = b"GET http://files.example/large HTTP/1.1\r\n\r\n"
PIECE = 65_536


class DeafGuest(threading.Thread):
    """A guest API that asks for a file by its first line, and never reads what comes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._lines: list[socket.socket] = []
        self.start()

    def run(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return
            protocol = ServerProtocol()
            protocol.receive_data(line.recv(PIECE))
            (request,) = protocol.events_received()
            assert isinstance(request, Request)
            protocol.send_response(protocol.accept(request))
            if not self._lines:
                protocol.send_binary(ASKS)
            line.sendall(b"".join(protocol.data_to_send()))
            self._lines.append(line)

    def is_sent_much(self) -> bool:
        """Whether more waits to be read than its connection takes at a time."""
        return bool(self._lines) and len(self._lines[0].recv(2 * PIECE, socket.MSG_PEEK)) > PIECE

    def die(self) -> None:
        """As a machine dies: all its connections end, read or not. Safe to call twice."""
        if self._server.fileno() >= 0:
            self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()
            self.join(5)
            for line in self._lines:
                line.close()


@pytest.fixture
def guest() -> Iterator[DeafGuest]:
    made = DeafGuest()
    yield made
    made.die()


@pytest.fixture
def supervisor(tmp_path: Path) -> FakeSupervisor:
    return FakeSupervisor(tmp_path)


@pytest.fixture
def machine(supervisor: FakeSupervisor, guest: DeafGuest, tmp_path: Path) -> Iterator[QemuDesktop]:
    supervisor.on_end = guest.die
    gateways, way_out = Gateways(), tmp_path / "gateway"
    held = supervisor.held(guest.port)
    desktop = GuestDesktop(address_of(held), "secret", screen=SPEC.screen)
    order = VmRequest.for_image(tmp_path, image_of(), SPEC, HOST)
    made = StartedVm(supervisor, held, order, desktop, "secret", "clone", "", {})
    lines = partial(gateways.lines, made.address, made.secret, way_out)
    yield QemuDesktop(made, gateways.open(way_out), lines)
    gateways.close()


class RespondingGuest(ThreadingHTTPServer):
    """A guest API that reports these counts; silent without any.

    Attributes:
        hangs_up: closes connections, as QEMU does while nothing listens in its machine.
    """

    def __init__(self, counts: Mapping[str, int] | None) -> None:
        self.counts, self.over, self.hangs_up = counts, threading.Event(), False
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def die(self) -> None:
        """Safe to call twice."""
        self.over.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: RespondingGuest

    def do_GET(self) -> None:
        if self.server.hangs_up:
            return
        if self.server.counts is None:
            self.server.over.wait()
            return
        body = json.dumps(self.server.counts).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""


class TestEnding:
    @contextmanager
    def machine(
        self, supervisor: FakeSupervisor, guest: RespondingGuest, folder: Path, guest_server: str = "1" * 64
    ) -> Iterator[QemuDesktop]:
        supervisor.on_end = guest.die
        gateways, handle = Gateways(), supervisor.held(guest.server_port)
        desktop = GuestDesktop(address_of(handle), "secret", screen=SPEC.screen)
        order = VmRequest.for_image(folder, image_of(guest_server=guest_server), SPEC, HOST)
        vm = StartedVm(supervisor, handle, order, desktop, "secret", "clone", "", {})
        way_out = folder / "gateway"
        opened = QemuDesktop(vm, gateways.open(way_out), partial(gateways.lines, vm.address, vm.secret, way_out))
        yield opened
        opened.close()
        gateways.close()

    @pytest.mark.parametrize(
        ("counts", "cause", "facts"),
        [
            ({"memory": 2, "processes": 5}, EndCause.MEMORY_LIMIT, {"memory": 2, "processes": 5}),
            ({"memory": 0, "processes": 5}, EndCause.PROCESS_LIMIT, {"processes": 5}),
            ({"memory": 0, "processes": 0}, EndCause.UNKNOWN, {}),
            ({}, EndCause.UNKNOWN, {}),
        ],
    )
    def test_a_guest_that_answers_counts_its_limits(
        self,
        supervisor: FakeSupervisor,
        tmp_path: Path,
        counts: Mapping[str, int],
        cause: EndCause,
        facts: Mapping[str, int],
    ) -> None:
        with self.machine(supervisor, RespondingGuest(counts), tmp_path) as opened:
            assert opened.ending() == DesktopEnd(cause=cause, facts=dict(facts))

    def test_a_guest_that_hangs_powers_its_machine_off(self, supervisor: FakeSupervisor, tmp_path: Path) -> None:
        with self.machine(supervisor, RespondingGuest(None), tmp_path) as opened:
            watchdog = threading.Timer(0.2, opened.vm.handle.end, ("it shut down", "shut_down"))
            watchdog.start()
            assert opened.ending() == DesktopEnd(cause=EndCause.SHUT_DOWN, text="it shut down")

    def test_image_without_a_watchdog_has_an_unknown_end_cause(
        self, supervisor: FakeSupervisor, tmp_path: Path
    ) -> None:
        with self.machine(supervisor, RespondingGuest(None), tmp_path, guest_server="") as opened:
            assert opened.ending().cause is EndCause.UNKNOWN
            assert opened.alive()

    def test_a_machine_that_refuses_connections_has_lost_its_session(
        self, supervisor: FakeSupervisor, tmp_path: Path
    ) -> None:
        guest = RespondingGuest({})
        guest.hangs_up = True
        with self.machine(supervisor, guest, tmp_path) as opened:
            assert opened.ending().cause is EndCause.SESSION_ENDED


class TestClose:
    def test_close_does_not_wait_for_a_guest_that_stopped_reading(
        self, machine: QemuDesktop, supervisor: FakeSupervisor, guest: DeafGuest, tmp_path: Path
    ) -> None:
        machine.let_out(EgressRules(files={"http://files.example/large": "1" * 64}), lambda _: bytes(20 * 2**20))
        until(guest.is_sent_much)
        machine.close()
        assert supervisor.ended == ["m1"]
        assert not (tmp_path / "gateway").exists()

    def test_a_machine_that_does_not_end_keeps_no_route_out(
        self, machine: QemuDesktop, supervisor: FakeSupervisor, tmp_path: Path
    ) -> None:
        machine.let_out(EgressRules(), lambda _: b"")
        supervisor.refuses = "QEMU does not end"
        with raises_code(ClusterLost, "desktop_not_removed", mentions="QEMU does not end"):
            machine.close()
        assert not (tmp_path / "gateway").exists()
