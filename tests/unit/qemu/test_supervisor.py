"""A supervisor that is busy with large files, and who comes meanwhile."""

import hashlib
import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.error_codes import raises_code
from tests.processes import select_living
from tests.waiting import until
from worker.qemu.access_gate import AccessGate
from worker.qemu.client import SupervisorError, VmHandle
from worker.qemu.remote import LeaseSuperseded, RemoteSupervisor
from worker.qemu.runtime_dir import RuntimeDir
from worker.qemu.slot import VmSlot
from worker.qemu.supervisor import SupervisorSession
from worker.qemu.volumes import Volumes

TOKEN = "a-token-of-this-pod"
MASTER = VmHandle("m1", 1, 1, {})


class FrozenMaster(VmSlot):
    """One whose machine is frozen already: a file of it is to be written to the disk yet."""

    def freeze(self, name: str, place: Path) -> list[Path]:
        return [place / "memory"]


class BusySupervisor:
    """A supervisor in a thread, with an image whose disk lets nobody read it before `let` is called."""

    def __init__(self, folder: Path, server: socket.socket) -> None:
        self.folder, self.address = folder, server.getsockname()[:2]
        self._server = server
        for name in ("disk", "memory"):
            os.mkfifo(folder / name)

    def serve(self, workers: int) -> None:
        door, waiting = AccessGate(self._server, TOKEN), None
        for _ in range(workers):
            with waiting or door.wait() as line:
                place = RuntimeDir()
                slot = FrozenMaster(self.folder, self.folder)
                supervisor = SupervisorSession(
                    line, slot, place, volumes=Volumes(self.folder.parent, self.folder / "templates"), door=door
                )
                supervisor.run()
                place.remove()
            waiting = supervisor.successor

    def let(self, name: str, content: bytes) -> None:
        (self.folder / name).write_bytes(content)

    def chores(self) -> list[psutil.Process]:
        """The processes that read a file."""
        below = psutil.Process().children()
        return select_living(below, lambda each: any(str(self.folder) in word for word in each.cmdline()))


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[BusySupervisor]:
    folder = tmp_path / "debian"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield BusySupervisor(folder, server)


def asked(pool: ThreadPoolExecutor, worker: RemoteSupervisor, busy: BusySupervisor, name: str) -> Future[Any]:
    """Has a file read that cannot be read yet; returns once that is under way."""
    answer: Future[Any] = (
        pool.submit(worker.hashes, "/images/debian", ["disk"])
        if name == "disk"
        else pool.submit(worker.freeze, MASTER, busy.folder)
    )
    until(busy.chores, 20, what="the file is being read")
    return answer


class TestChore:
    def test_gives_the_hashes_in_the_end(self, busy: BusySupervisor) -> None:
        with ThreadPoolExecutor() as pool:
            pool.submit(busy.serve, 1)
            worker = RemoteSupervisor(busy.address, TOKEN, 1)
            answer = asked(pool, worker, busy, "disk")
            busy.let("disk", b"golden")
            assert answer.result(60) == {"disk": hashlib.sha256(b"golden").hexdigest()}
            with raises_code(SupervisorError, "host_failed", mentions="No such file"):
                worker.hashes("/images/debian", ["kernel"])
            worker.close()

    @pytest.mark.parametrize("name", ["disk", "memory"])
    def test_a_later_lease_is_heard_at_once_and_nothing_of_it_is_left(self, busy: BusySupervisor, name: str) -> None:
        with ThreadPoolExecutor() as pool:
            served = pool.submit(busy.serve, 2)
            former = RemoteSupervisor(busy.address, TOKEN, 1)
            making = Path(former.make("key"))
            answer = asked(pool, former, busy, name)
            later = RemoteSupervisor(busy.address, TOKEN, 2)
            assert not busy.chores()
            assert not making.exists()
            assert later.images() == []
            with raises_code(LeaseSuperseded, "lease_superseded"):
                answer.result(60)
            former.close()
            later.close()
            served.result(60)
