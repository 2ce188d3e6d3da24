"""The worker's side of a supervisor that answers as a test says."""

import gc
import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code
from tests.factories.machine_images import image_of
from tests.factories.vm_hosts import EMULATING_HOST
from tests.waiting import until
from worker.qemu import client
from worker.qemu.client import SlotSupervisor, SupervisorClient, SupervisorError, SupervisorLost, VmHandle
from worker.qemu.plan import machine_of
from worker.qemu.slot import CLONE

HOST = EMULATING_HOST
MACHINE = machine_of(Path("/images/debian"), image_of(), ScreenSize(width=1280, height=800), HOST)


class Talker(threading.Thread):
    """The server's side: starts machines once the `gate` is open; records requests."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.gate = threading.Event()
        self.asked: list[dict[str, Any]] = []
        self._line: socket.socket | None = None

    def begin(self, fd: int, _overlays: Path) -> "subprocess.Popen[bytes]":
        """Instead of a process with a supervisor."""
        self._line = socket.socket(fileno=os.dup(fd))
        self.start()
        return subprocess.Popen(["true"])

    def tell(self, **message: Any) -> None:
        assert self._line is not None
        self._line.sendall(json.dumps(message).encode() + b"\n")

    def run(self) -> None:
        assert self._line is not None
        self.tell(event="started", folder="/run/s-1", qemu="QEMU emulator version 0")
        with self._line, self._line.makefile("rb") as lines:
            for line in lines:
                asked = json.loads(line)
                self.asked.append(asked)
                if asked["op"] == "stop":
                    return
                started: dict[str, Any] = {}
                if asked["op"] == "start":
                    self.gate.wait(10)
                    started = {"machine": "m1", "port": 1, "pid": 1, "seconds": {}}
                self.tell(id=asked["id"], ok=True, **started)

    def ended(self) -> list[str]:
        return [each["machine"] for each in self.asked if each["op"] == "end"]


@pytest.fixture
def talker(monkeypatch: pytest.MonkeyPatch) -> Talker:
    made = Talker()
    monkeypatch.setattr(client, "start_process", made.begin)
    return made


@pytest.fixture
def supervisor(talker: Talker, tmp_path: Path) -> Iterator[SlotSupervisor]:
    made = SlotSupervisor(tmp_path)
    yield made
    talker.gate.set()
    made.close()


def handles() -> int:
    """Number of machines that anything in this process refers to."""
    gc.collect()
    return sum(isinstance(each, VmHandle) for each in gc.get_objects())


class TestStart:
    def test_a_machine_is_held_until_it_is_ended(self, supervisor: SlotSupervisor, talker: Talker) -> None:
        talker.gate.set()
        held = supervisor.start(CLONE, MACHINE)
        assert (held.name, talker.ended()) == ("m1", [])
        supervisor.end(held)
        assert talker.ended() == ["m1"]

    def test_a_machine_that_comes_too_late_is_ended(
        self, supervisor: SlotSupervisor, talker: Talker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(client, "START_SECONDS", 0.01)
        before = handles()
        with raises_code(SupervisorError, "supervisor_timeout", mentions="'start'"):
            supervisor.start(CLONE, MACHINE)
        talker.gate.set()
        assert until(talker.ended) == ["m1"]
        until(lambda: handles() <= before, what="no handle of it is kept")


STARTED = {"event": "started", "folder": "/run/s-1", "qemu": "QEMU emulator version 0"}
"""Its first message; sent a second time, it is no message."""
NO_MESSAGES: tuple[dict[str, Any], ...] = (
    STARTED,
    {"event": "gone"},
    {"event": "gone", "machine": []},
    {"ok": True},
    {"id": [], "ok": True},
    {"id": 1},
    {"id": 1, "ok": False},
    {"id": 1, "ok": True, "port": 1},
    {"id": 1, "ok": True, "port": 1, "machine": {}, "pid": 1, "seconds": {}},
)


class TestAsk:
    @pytest.mark.parametrize("said", NO_MESSAGES, ids=json.dumps)
    def test_malformed_messages_close_the_connection(self, said: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        supervisor = SupervisorClient(ours)
        with theirs, theirs.makefile("rb") as lines, ThreadPoolExecutor() as asking:
            theirs.sendall(json.dumps(STARTED).encode() + b"\n")
            answer = asking.submit(supervisor.ask, {"op": "host"}, 60.0)
            assert json.loads(lines.readline())["id"] == 1
            theirs.sendall(json.dumps(said).encode() + b"\n")
            with pytest.raises(SupervisorLost):
                answer.result(60)
            assert not supervisor.alive()
            assert lines.readline() == b"", "it hears that nobody listens"
            with pytest.raises(SupervisorLost):
                supervisor.ask({"op": "host"})
            supervisor.close()
