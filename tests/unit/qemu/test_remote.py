"""Who answers at a pod's address before it has shown who it is."""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.error_codes import raises_code
from worker.base.json_lines import encode
from worker.qemu.accelerator import AUTO
from worker.qemu.access_gate import AccessGate
from worker.qemu.client import SupervisorError, VmHandle
from worker.qemu.machine import MachineSpec
from worker.qemu.remote import RemoteSupervisor, connect


class TestConnect:
    def test_endless_greeting_times_out(self) -> None:
        over = threading.Event()

        def trickle(server: socket.socket) -> None:
            connection, _ = server.accept()
            with connection:
                while not over.wait(0.1):
                    connection.sendall(b" ")

        with socket.create_server(("127.0.0.1", 0)) as server:
            serving = threading.Thread(target=trickle, args=(server,))
            serving.start()
            begun = time.monotonic()
            try:
                with raises_code(SupervisorError, "supervisor_timeout"):
                    connect(server.getsockname()[:2], "token", 1, seconds=0.5)
                assert time.monotonic() - begun < 60
            finally:
                over.set()
                serving.join()


MACHINE = MachineSpec(
    system="linux", type="pc", accelerator="tcg", cpu="max", cpus=1, memory_mib=64, screen=(640, 480),
    disk="/dev/null", disk_size=2**30,
)  # fmt: skip
HELD = VmHandle("m1", 1, 1, {})
ASKED: tuple[Callable[[RemoteSupervisor], object], ...] = (
    lambda it: it.host(AUTO),
    lambda it: it.images(),
    lambda it: it.hashes("/images/debian", ["disk"]),
    lambda it: it.find("key"),
    lambda it: it.templates(),
    lambda it: it.make("key"),
    lambda it: it.keep({}),
    lambda it: it.start("cold", MACHINE),
    lambda it: it.freeze(HELD, Path("/templates/key")),
    lambda it: it.picture(HELD),
    lambda it: it.private_bytes(HELD),
)
"""All that has an answer."""


class TestRemoteSupervisor:
    @pytest.mark.parametrize("said", [{}, {"template": {}, "png": 1, "bytes": "many"}], ids=["nothing", "nonsense"])
    def test_an_answer_of_another_shape_is_its_failure(self, said: dict[str, Any]) -> None:
        def serve() -> None:
            with AccessGate(server, "token").wait() as line, line.makefile("rb") as lines:
                line.settimeout(10)
                line.sendall(encode({"event": "started", "qemu": "QEMU emulator version 0"}))
                for each in lines:
                    line.sendall(encode({"id": json.loads(each)["id"], "ok": True, **said}))

        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as serving:
            served = serving.submit(serve)
            supervisor = RemoteSupervisor(server.getsockname()[:2], "token", 1)
            try:
                for ask in ASKED:
                    with raises_code(SupervisorError, "invalid_response"):
                        ask(supervisor)
            finally:
                supervisor.close()
            served.result(60)

    def test_silent_supervisor_is_disconnected(self) -> None:
        def serve() -> list[str]:
            with AccessGate(server, "token").wait() as line, line.makefile("rb") as lines:
                line.settimeout(5)
                line.sendall(encode({"event": "started"}))
                asked = json.loads(lines.readline())
                line.sendall(encode({"id": asked["id"], "ok": True}))
                return [asked["op"], *map(str, lines)]

        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as serving:
            served = serving.submit(serve)
            with raises_code(SupervisorError, "version_differs"):
                RemoteSupervisor(server.getsockname()[:2], "token", 1)
            assert served.result(60) == ["stop"], "its machines end, and so does the line"
