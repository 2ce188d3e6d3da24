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

from tests.error_codes import raises_code
from tests.factories.tiny_machine import needs_qemu
from tests.integration.qemu.conftest import SPEC, Tiny
from tests.processes import has_ended, select_living
from tests.waiting import until
from worker.qemu.accelerator import AUTO
from worker.qemu.client import CHECKOUT, SlotSupervisor, SupervisorError
from worker.qemu.machine import MachineSpec
from worker.qemu.remote import ForeignPod, LeaseSuperseded, RemoteSupervisor
from worker.qemu.slot import COLD
from worker.qemu.supervisor import TAKEN_OVER

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


def ended(connection: socket.socket) -> bool:
    """Whether the other side has closed the connection; earlier data is ignored."""
    connection.settimeout(10)
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.sampled(3)
class TestListen:
    def test_serves_a_client_with_the_token_until_closed(self, address: tuple[str, int]) -> None:
        supervisor = RemoteSupervisor(address, TOKEN, 0)
        with raises_code(SupervisorError, "invalid_request", mentions="'dance'"):
            supervisor.ask({"op": "dance"})
        supervisor.close()
        assert not supervisor.alive()

    def test_serves_the_next_worker_after_the_last(self, address: tuple[str, int]) -> None:
        for _ in range(2):
            supervisor = RemoteSupervisor(address, TOKEN, 3)
            assert supervisor.qemu.startswith("QEMU")
            supervisor.close()

    def test_a_later_lease_takes_the_slot_over_and_an_earlier_one_is_shown_out(self, address: tuple[str, int]) -> None:
        first = RemoteSupervisor(address, TOKEN, 3)
        second = RemoteSupervisor(address, TOKEN, 4)
        until(lambda: not first.alive())
        with raises_code(LeaseSuperseded, "lease_superseded"):
            first.ask({"op": "host"})
        with raises_code(LeaseSuperseded, "lease_superseded"):
            RemoteSupervisor(address, TOKEN, 3)
        assert second.host(AUTO)["qemu"] == second.qemu
        first.close()
        second.close()

    def test_the_machines_of_the_former_holder_are_gone(self, address: tuple[str, int], tiny: Tiny) -> None:
        first = RemoteSupervisor(address, TOKEN, 1)
        held = first.start(COLD, tiny.machine())
        assert psutil.pid_exists(held.pid)
        second = RemoteSupervisor(address, TOKEN, 2)
        assert not psutil.pid_exists(held.pid)
        assert held.ended.wait(60)
        assert held.dead == TAKEN_OVER
        first.close()
        second.close()

    @pytest.mark.parametrize(
        "said",
        [{"token": TOKEN}, {"nonce": "n", "fence": -1}, {"nonce": "", "fence": 1}, {"nonce": "n", "fence": "1"}, {}],
    )
    def test_says_nothing_to_others(self, address: tuple[str, int], said: dict[str, object]) -> None:
        with socket.create_connection(address, 10) as line:
            line.sendall(json.dumps(said).encode() + b"\n")
            assert line.recv(100) == b""

    def test_a_wrong_proof_is_shown_out(self, address: tuple[str, int]) -> None:
        with socket.create_connection(address, 10) as line:
            line.sendall(b'{"nonce": "n", "fence": 0}\n{"proof": "guess"}\n')
            assert ended(line)

    def test_idle_connection_does_not_block_others(self, address: tuple[str, int]) -> None:
        with socket.create_connection(address, 10), socket.create_connection(address, 10):
            RemoteSupervisor(address, TOKEN, 0).close()

    def test_a_supervisor_that_does_not_know_the_token_is_not_ours(self, address: tuple[str, int]) -> None:
        with raises_code(ForeignPod, "foreign_pod"):
            RemoteSupervisor(address, "the token of another pod", 0)

    def test_unreachable_supervisor_is_reported(self) -> None:
        with raises_code(SupervisorError, "no_connection"):
            RemoteSupervisor(("127.0.0.1", 1), TOKEN, 0)


class TestStart:
    def test_a_qemu_error_is_reported_verbatim_and_leaves_nothing(self, tiny: Tiny, tmp_path: Path) -> None:
        supervisor = SlotSupervisor(tmp_path)
        disk = tmp_path / "disk"
        disk.write_bytes(b"no image")
        machine = MachineSpec(
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
        with raises_code(SupervisorError, "qemu_not_started", mentions="machine type"):
            supervisor.start(COLD, machine)
        assert list(supervisor.folder.iterdir()) == []
        supervisor.close()
        assert not supervisor.folder.exists()


WORKER = """
import sys
from pathlib import Path
from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from tests.integration.qemu.conftest import SPEC
from worker.providers.qemu import QemuProvider

opened = QemuProvider(Settings(data_dir=Path(sys.argv[1]))).open(SlotRef(0), SPEC)
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
            assert select_living(below, lambda each: each.name().startswith("qemu"))
            assert select_living(below, lambda each: each.name().startswith("python"))
            worker.send_signal(signal.SIGKILL)
        _, alive = psutil.wait_procs(below, timeout=20)
        assert all(has_ended(each) for each in alive)
        assert tiny.left() == []
