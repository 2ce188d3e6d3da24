"""The provider of virtual machines, without machines: assignment of room, and notifications."""

import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.errors import ClusterLost, GuestLost, GuestRefused
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec
from tests.error_codes import raises_code, raises_fields
from tests.factories.machine_images import write_small_image
from tests.factories.vm_hosts import EMULATING_HOST
from tests.fakes.supervisor import FakeSupervisor
from tests.waiting import until
from worker.activity import Tracker
from worker.desktops import GuestDesktop
from worker.providers import qemu
from worker.providers._template_store import VmHost
from worker.providers.qemu import QemuProvider
from worker.providers.vm_factory import StartedVm, VmFactory, address_of
from worker.providers.vm_order import VmRequest

SPEC = DesktopSpec(screen=ScreenSize(width=1280, height=800))
HOST = EMULATING_HOST
ONE = 1100
"""MiB: room for one machine of the image, whose size is 1024."""


@dataclass
class Floor:
    """Creates machines: `gate` lets their creation continue, `making` counts the started ones."""

    supervisor: FakeSupervisor
    gate: threading.Event = field(default_factory=threading.Event)
    making: int = 0
    trackers: list[Tracker] = field(default_factory=list)

    def make(self, bench: VmHost, order: VmRequest) -> StartedVm:
        self.making += 1
        self.trackers.append(bench.tracker)
        self.gate.wait(10)
        held = self.supervisor.held()
        guest = GuestDesktop(address_of(held), "secret", screen=SPEC.screen)
        return StartedVm(self.supervisor, held, order, guest, "secret", "clone", "", {})


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Floor]:
    made = Floor(FakeSupervisor(tmp_path))
    made.gate.set()
    monkeypatch.setattr(qemu, "this_host", lambda _: HOST)
    monkeypatch.setattr(qemu, "SlotSupervisor", lambda _: made.supervisor)
    monkeypatch.setattr(qemu, "free_memory", lambda: 2**40)
    monkeypatch.setattr(VmFactory, "make", made.make)
    yield made
    made.gate.set()


@pytest.fixture
def provider(tmp_path: Path, floor: Floor) -> Iterator[QemuProvider]:
    write_small_image(tmp_path / "images")
    made = QemuProvider(Settings(data_dir=tmp_path, qemu_memory_limit_mib=ONE))
    yield made
    floor.gate.set()
    made.close()


def later(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


class TestRoom:
    def test_a_machine_in_the_making_takes_its_room(self, provider: QemuProvider, floor: Floor) -> None:
        floor.gate.clear()
        first = later(lambda: provider.open(SlotRef(0), SPEC))
        until(lambda: floor.making)
        with raises_code(ClusterLost, "host_memory_full"):
            provider.open(SlotRef(1), SPEC)
        floor.gate.set()
        first.join()
        assert floor.making == 1

    def test_no_spare_is_prepared_while_a_machine_starts(self, provider: QemuProvider, floor: Floor) -> None:
        floor.gate.clear()
        first = later(lambda: provider.open(SlotRef(0), SPEC))
        until(lambda: floor.making)
        provider.prepare(SlotRef(1), SPEC)
        floor.gate.set()
        first.join()
        assert (floor.making, provider.slot_desktops.spares) == (1, {})

    def test_a_machine_that_could_not_be_made_takes_none(
        self, provider: QemuProvider, floor: Floor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(VmFactory, "make", lambda *_: fail(ClusterLost("no disk")))
            with raises_fields(ClusterLost, message="no disk"):
                provider.open(SlotRef(0), SPEC)
        provider.open(SlotRef(0), SPEC).close()
        assert provider.open(SlotRef(1), SPEC).alive()

    def test_unknown_memory_use_reserves_the_full_amount(
        self, provider: QemuProvider, floor: Floor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        floor.supervisor.own_bytes = None
        opened = provider.open(SlotRef(0), SPEC)
        assert [used() for _, used in provider.memory_claims()] == [0]
        opened.close()
        assert provider.memory_claims() == []


class TestTracker:
    def test_tracker_of_a_slot_receives_its_activities(self, provider: QemuProvider, floor: Floor) -> None:
        provider.open(SlotRef(0), SPEC)
        assert floor.trackers == [provider.tracker(SlotRef(0, fence=7))]
        assert provider.tracker(None) not in floor.trackers


class TestOpen:
    def test_a_machine_s_way_out_is_for_its_worker_only(
        self, provider: QemuProvider, floor: Floor, tmp_path: Path
    ) -> None:
        provider.open(SlotRef(0), SPEC)
        (socket,) = tmp_path.glob("*.gateway")
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600


def fail(error: Exception) -> None:
    raise error


class TestPrepare:
    def test_a_lying_guest_is_reported_to_the_waiting_caller(
        self, provider: QemuProvider, floor: Floor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(GuestDesktop, "frame", lambda _: fail(GuestRefused("over the limit", kind="too_large")))
        provider.prepare(SlotRef(0), SPEC)
        with raises_code(GuestLost, "desktop_refused", mentions="over the limit"):
            provider.slot_desktops.spares[SlotRef(0)].coming.result(60)
        assert floor.supervisor.ended == ["m1"]

    def test_machine_that_starts_too_late_is_ended(
        self, provider: QemuProvider, floor: Floor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(qemu, "BOOT_SECONDS", 0.05)
        floor.gate.clear()
        provider.prepare(SlotRef(0), SPEC)
        with raises_code(ClusterLost, "host_memory_full"):
            provider.open(SlotRef(0), SPEC)
        floor.gate.set()
        until(lambda: floor.supervisor.ended == ["m1"])
