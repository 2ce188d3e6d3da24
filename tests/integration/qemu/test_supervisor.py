"""The supervisor as a process: over TCP as in a pod, and with a worker that dies."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.factories.tiny_machine import needs_qemu
from tests.integration.qemu.conftest import SPEC, Tiny
from tests.waiting import until
from worker.qemu.client import CHECKOUT, SlotSupervisor, SupervisorError
from worker.qemu.machine import Machine
from worker.qemu.slot import COLD

pytestmark = pytest.mark.desktop
TOKEN = "a-token-of-this-pod"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Of a supervisor that listens."""
    needs_qemu()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = [sys.executable, "-S", "-m", "worker.qemu.supervisor"]
    words += ["--listen", f"127.0.0.1:{port}", "--overlays", str(tmp_path)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT), "DESKARENA_SUPERVISOR_TOKEN": TOKEN}
    with subprocess.Popen(words, env=environment) as process:
        until(lambda: _listens(port), 30)
        yield "127.0.0.1", port
        process.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def talk(address: tuple[str, int], *messages: dict[str, object]) -> Iterator[dict[str, object]]:
    """What it says after these messages, until it ends the connection."""
    with socket.create_connection(address, 10) as line, line.makefile("rb") as answers:
        line.sendall(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
        yield from map(json.loads, answers)


class TestListen:
    def test_serves_one_who_shows_the_token_and_ends_when_told(self, address: tuple[str, int]) -> None:
        said = list(talk(address, {"token": TOKEN}, {"id": 1, "op": "dance"}, {"id": 2, "op": "stop"}))
        assert said[0]["event"] == "started"
        assert (said[1]["id"], said[1]["ok"]) == (1, False)
        assert said[2] == {"id": 2, "ok": True}

    def test_serves_the_next_worker_after_the_last(self, address: tuple[str, int]) -> None:
        for _ in range(2):
            assert next(talk(address, {"token": TOKEN}))["event"] == "started"

    @pytest.mark.parametrize("shown", [{"token": "another"}, {"id": 1, "op": "stop"}, {"token": 1}])
    def test_says_nothing_to_others(self, address: tuple[str, int], shown: dict[str, object]) -> None:
        assert list(talk(address, shown)) == []


class TestStart:
    def test_what_qemu_refuses_is_told_in_its_words_and_leaves_nothing(self, tiny: Tiny, tmp_path: Path) -> None:
        supervisor = SlotSupervisor(tmp_path)
        disk = tmp_path / "disk"
        disk.write_bytes(b"no image")
        machine = Machine(
            system="linux",
            type="pc-q35-0.1",
            accelerator="tcg",
            cpu="max",
            cpus=1,
            memory_mib=64,
            screen=(640, 480),
            disk=str(disk),
            disk_size=2**20,
        )
        with pytest.raises(SupervisorError, match="unsupported machine type"):
            supervisor.start(COLD, machine)
        assert list(supervisor.folder.iterdir()) == []
        supervisor.close()
        assert not supervisor.folder.exists()


WORKER = """
import sys
from pathlib import Path
from backend.config import Settings
from backend.domain.slots import SlotRef
from tests.integration.qemu.conftest import SPEC
from worker.providers.qemu import QemuProvider

opened = QemuProvider(Settings(data=Path(sys.argv[1]))).open(SlotRef(0), SPEC)
print("opened", flush=True)
sys.stdin.read()
"""


class TestDeath:
    def test_a_killed_worker_leaves_no_machine_no_supervisor_and_no_folder(self, tiny: Tiny) -> None:
        assert tiny.provider.template(SPEC)
        words = [sys.executable, "-c", WORKER, str(tiny.data)]
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"opened\n"
            below = psutil.Process(worker.pid).children(recursive=True)
            assert {each.name()[:4] for each in below} >= {"qemu", "pyth"}
            worker.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(below, timeout=20)
        assert [each for each in alive if each.status() != psutil.STATUS_ZOMBIE] == []
        assert tiny.left() == []
