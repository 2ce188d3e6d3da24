"""A supervisor's machines without a QEMU."""

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.descriptors import open_descriptors
from tests.error_codes import raises_code
from tests.processes import file_size_limit
from tests.waiting import until
from worker.qemu import template
from worker.qemu.machine import MachineSpec
from worker.qemu.process import Qemu, QemuFailed
from worker.qemu.runtime_dir import RuntimeDir
from worker.qemu.slot import RunningVm, StartRequest, VmSlot, dirty_bytes
from worker.qemu.supervisor import SupervisorSession

MACHINE = MachineSpec(
    system="linux", type="pc", accelerator="tcg", cpu="max", cpus=1, memory_mib=64, screen=(640, 480),
    disk="/dev/null", disk_size=2**30,
)  # fmt: skip


class StuckQemu(Qemu):
    """One that saves its state, and then neither quits nor ends as long as the kernel does not let it."""

    def __init__(self, *, ends: bool) -> None:
        self.pid_fd = self.words_fd = os.open("/dev/null", os.O_RDONLY)
        self.ends = ends

    def ask(self, *_: Any, **__: Any) -> Any:
        return {}

    def wait(self, *_: Any) -> Any:
        return type("Completed", (), {"name": "MIGRATION", "data": {"status": "completed"}})

    def end(self) -> None:
        if self.pid_fd >= 0:
            os.close(self.pid_fd)
            self.pid_fd = self.words_fd = -1
        if not self.ends:
            raise QemuFailed("QEMU does not end", code="qemu_not_ended")

    def quit(self) -> None:
        self.end()
        raise QemuFailed("QEMU does not exit gracefully", code="quit_timeout")


class WellQemu(Qemu):
    def __init__(self) -> None:
        self.verdict, self.cause, self.asked = "", "", list[str]()

    def ask(self, command: str, *_: Any, **__: Any) -> Any:
        self.asked.append(command)

    def look(self) -> str:
        return self.verdict

    def end(self) -> None:
        return


@pytest.fixture
def slot(tmp_path: Path) -> VmSlot:
    return VmSlot(tmp_path, tmp_path)


@pytest.fixture
def worker() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def place() -> Iterator[RuntimeDir]:
    made = RuntimeDir()
    yield made
    made.remove()


def stuck(slot: VmSlot, folder: Path, *, ends: bool) -> None:
    (folder / "m1").mkdir()
    slot.machines["m1"] = RunningVm(StuckQemu(ends=ends), folder / "m1", None)


class TestFreeze:
    def test_a_master_that_does_not_quit_is_ended_all_the_same(self, slot: VmSlot, tmp_path: Path) -> None:
        stuck(slot, tmp_path, ends=True)
        with raises_code(QemuFailed, "quit_timeout"):
            slot.freeze("m1", tmp_path)
        assert slot.machines == {}
        assert not (tmp_path / "m1").exists()

    def test_stuck_machine_does_not_block_others(
        self, slot: VmSlot, tmp_path: Path, worker: tuple[socket.socket, socket.socket], place: RuntimeDir
    ) -> None:
        stuck(slot, tmp_path, ends=False)
        with raises_code(QemuFailed, "qemu_not_ended"):
            slot.freeze("m1", tmp_path)
        worker[1].sendall(b'{"id": 1, "op": "unknown"}\n')
        worker[1].shutdown(socket.SHUT_WR)
        SupervisorSession(worker[0], slot, place).run()
        worker[0].close()
        replies = b"".join(iter(lambda: worker[1].recv(1000), b"")).replace(b" ", b"")
        assert b'"id":1' in replies


class TestStart:
    @pytest.mark.parametrize("room", [0, 100])
    def test_a_start_without_room_leaves_nothing_open(self, slot: VmSlot, room: int) -> None:
        before = open_descriptors()
        with file_size_limit(room), pytest.raises(OSError, match="File too large"):
            slot.start(StartRequest("cold", MACHINE))
        until(lambda: not open_descriptors() - before, what="nothing is held open")
        assert slot.machines == {}

    def test_failing_command_line_leaves_nothing_open(self, slot: VmSlot) -> None:
        without_height = replace(MACHINE, screen=cast("tuple[int, int]", (640,)))
        before = open_descriptors()
        with pytest.raises(ValueError, match="not enough values"):
            slot.start(StartRequest("cold", without_height))
        until(lambda: not open_descriptors() - before, what="nothing is held open")
        assert slot.machines == {}


class TestTemplate:
    """A template is only valid with the disk that it was created from."""

    @pytest.fixture
    def disk(self, tmp_path: Path) -> Path:
        made = tmp_path / "disk"
        made.write_bytes(b"golden")
        return made

    @pytest.fixture
    def made(self, slot: VmSlot, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Files that a master leaves; there is no QEMU."""

        def none(*_: object, **__: object) -> list[str]:
            raise QemuFailed("there is no QEMU", code="program_not_started")

        monkeypatch.setattr("worker.qemu.slot.arguments", none)
        place = tmp_path / "template"
        place.mkdir()
        with raises_code(QemuFailed, "program_not_started"):
            slot.start(StartRequest("master", replace(MACHINE, disk=str(disk)), place=place))
        (place / template.ABOUT).touch()
        return place

    def test_clones_start_on_the_same_disk(self, slot: VmSlot, disk: Path, made: Path) -> None:
        with raises_code(QemuFailed, "program_not_started"):
            slot.start(StartRequest("clone", replace(MACHINE, disk=str(disk)), place=made))
        assert (made / template.ABOUT).exists()

    def test_changed_disk_invalidates_the_template(self, slot: VmSlot, disk: Path, made: Path) -> None:
        disk.write_bytes(b"golder")
        os.utime(disk, ns=(0, 10**9))
        before = open_descriptors()
        with raises_code(QemuFailed, "disk_changed"):
            slot.start(StartRequest("clone", replace(MACHINE, disk=str(disk)), place=made))
        until(lambda: not open_descriptors() - before, what="nothing is held open")
        assert not (made / template.ABOUT).exists()

    def test_template_without_a_disk_note_is_accepted(self, slot: VmSlot, disk: Path, made: Path) -> None:
        (made / template.GOLDEN).unlink()
        disk.write_bytes(b"of another size")
        with raises_code(QemuFailed, "program_not_started"):
            slot.start(StartRequest("clone", replace(MACHINE, disk=str(disk)), place=made))


class TestDirtyBytes:
    def test_clean_pages_count_as_free(self) -> None:
        maps = "0-1 ---p 0 00:00 0 [rollup]\nPrivate_Clean: 900 kB\nPrivate_Dirty: 12 kB\nPrivate_Hugetlb: 0 kB\n"
        assert dirty_bytes(maps) == 12 * 1024


class TestLook:
    def test_a_machine_that_writes_more_than_there_is_room_for_is_stopped(self, tmp_path: Path) -> None:
        slot, file = VmSlot(tmp_path, tmp_path, most=2**20), tmp_path / "overlay"
        file.write_bytes(bytes(2**19))
        qemu = WellQemu()
        slot.machines["m1"] = RunningVm(qemu, tmp_path / "m1", None, overlay=os.open(file, os.O_RDWR))
        assert slot.look("m1") == ""
        with file.open("ab") as overlay:
            overlay.write(os.urandom(2**20))
            os.fsync(overlay.fileno())
        assert slot.look("m1") == "the machine was stopped: it wrote 1 MiB to its disk, the limit is 1 MiB"
        assert qemu.asked == ["stop"]
        slot.end("m1")

    def test_without_a_limit_it_may_write_on(self, tmp_path: Path) -> None:
        slot, file = VmSlot(tmp_path, tmp_path), tmp_path / "overlay"
        file.write_bytes(bytes(2**22))
        slot.machines["m1"] = RunningVm(WellQemu(), tmp_path / "m1", None, overlay=os.open(file, os.O_RDWR))
        assert slot.look("m1") == ""
        slot.end("m1")
