"""A build machine's reports and its ends; real machines are in tests/integration/images."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.errors import Unavailable
from tests.error_codes import raises_code
from worker.images.windows.machine import Build
from worker.qemu.qmp import QmpEvent

OFF = "the guest shut its machine down"
PHASE = b'deskarena {"kind":"phase","phase":"windows"}\n'


class Monitor:
    """In the place of QEMU's: nothing comes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self.events: list[QmpEvent] = []

    def fileno(self) -> int:
        return self._end.fileno()


class EndingMachine:
    """In the place of QEMU: says its last words and is off, both between two looks."""

    def __init__(self, monitor: socket.socket, serial: socket.socket, words: bytes) -> None:
        self.qmp = Monitor(monitor)
        self._serial, self._words = serial, words

    def look(self) -> str:
        self._serial.sendall(self._words)
        return OFF


@pytest.fixture
def ends() -> Iterator[list[socket.socket]]:
    made = [*socket.socketpair(), *socket.socketpair()]
    made[0].setblocking(False)
    made[2].send(b"awake")
    yield made
    for end in made:
        end.close()


def run(ends: list[socket.socket], words: bytes) -> list[str]:
    ours, theirs, _, monitor = ends
    machine: Any = EndingMachine(monitor, theirs, words)
    told: list[str] = []
    Build(machine, ours, secret="secret").until_off("windows", seconds=30, press_keys=False, tell=told.append)
    return told


class TestUntilOff:
    def test_reports_before_shutdown_are_read(self, ends: list[socket.socket]) -> None:
        assert run(ends, PHASE) == ["  Windows: windows phase"]

    def test_an_end_without_its_words_is_too_early(self, ends: list[socket.socket]) -> None:
        with raises_code(Unavailable, "windows_build_failed", mentions=("windows", OFF)):
            run(ends, b"\n")
