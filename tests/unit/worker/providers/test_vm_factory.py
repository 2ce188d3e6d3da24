"""Failed creation of templates, without a machine."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backend.domain.errors import ClusterLost, GuestLost, MachineLost
from backend.domain.machines.health import DEFAULT_LIMITS
from backend.domain.machines.machine_image import MachineImage
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec
from tests.error_codes import raises_code
from tests.factories.machine_images import image_of
from tests.factories.vm_hosts import ACCELERATED, EMULATING_HOST, KVM_HOST
from tests.fakes.supervisor import FakeSupervisor
from worker.providers import vm_factory
from worker.providers._template_store import ImageChanged, LocalTemplateStore, StoredTemplate, VmHost
from worker.providers.vm_factory import VmFactory
from worker.providers.vm_order import VmRequest
from worker.qemu.acceleration import AccelerationReason
from worker.qemu.client import SupervisorError, VmHandle
from worker.qemu.machine import MachineSpec
from worker.qemu.template import DISK, MEMORY, STATE
from worker.qemu.templates import Template, Templates

HOST = EMULATING_HOST
ORDER = VmRequest.for_image(
    Path("/images/debian"), image_of(), DesktopSpec(screen=ScreenSize(width=1280, height=800)), HOST
)


class Stock:
    """Fails as scripted when a template is created; counts the calls."""

    def __init__(self, error: Exception) -> None:
        self.error, self.tried = error, 0
        self.there: Template | None = None

    def find(self, key: str) -> Template | None:
        return self.there

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        self.tried += 1
        raise self.error
        yield Path()

    def keep(self, place: Path, what: StoredTemplate) -> Template:
        raise AssertionError("nothing was made")

    def check(self, folder: Path, image: MachineImage) -> None:
        return


class ColdBoot(Exception):  # noqa: N818 - that one was asked for.
    """Instead of a machine."""


@pytest.fixture
def makings(monkeypatch: pytest.MonkeyPatch) -> VmFactory:
    def boot(*_: object) -> None:
        raise ColdBoot

    monkeypatch.setattr(VmFactory, "boot", boot)
    return VmFactory(DEFAULT_LIMITS)


def failures(makings: VmFactory, error: Exception, folder: Path) -> tuple[list[type[Exception]], int]:
    """Ends of three attempts, and the number of trials of a template."""
    stock, found = Stock(error), list[type[Exception]]()
    for _ in range(3):
        with pytest.raises((MachineLost, ColdBoot)) as raised:
            makings.make(VmHost(FakeSupervisor(folder), stock), ORDER)
        found.append(type(raised.value))
    return found, stock.tried


class TestMake:
    def test_guest_that_never_becomes_healthy_is_not_booted_for_each_attempt(
        self, makings: VmFactory, tmp_path: Path
    ) -> None:
        error = GuestLost("clock: an hour behind", hint="Look at it.")
        # Those that only hear of it have lost no machine: they are tried again with longer and longer pauses.
        assert failures(makings, error, tmp_path) == ([GuestLost, ClusterLost, ClusterLost], 1)
        with raises_code(ClusterLost, "image_not_available", mentions="clock: an hour behind") as raised:
            makings.make(VmHost(FakeSupervisor(tmp_path), Stock(error)), ORDER)
        assert raised.value.hint == "Look at it."

    def test_missing_space_for_a_template_falls_back_to_cold_boot(self, makings: VmFactory, tmp_path: Path) -> None:
        assert failures(makings, OSError("no space left"), tmp_path) == ([ColdBoot] * 3, 1)
        makings = VmFactory(DEFAULT_LIMITS)
        assert failures(makings, SupervisorError("a device cannot be moved"), tmp_path) == ([ColdBoot] * 3, 1)

    def test_changed_image_is_checked_each_time(self, makings: VmFactory, tmp_path: Path) -> None:
        assert failures(makings, ImageChanged("altered"), tmp_path) == ([ImageChanged] * 3, 3)

    def test_machines_of_a_lost_supervisor_are_retried(
        self, makings: VmFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(FakeSupervisor, "alive", lambda _: False)
        assert failures(makings, GuestLost("the pod is gone"), tmp_path) == ([GuestLost] * 3, 3)
        assert failures(makings, SupervisorError("died"), tmp_path) == ([ClusterLost] * 3, 3)

    def test_a_failure_in_one_pod_is_not_that_of_another(self, makings: VmFactory, tmp_path: Path) -> None:
        first, second = Stock(GuestLost("ill")), Stock(OSError("no space left"))
        for kind in (GuestLost, ClusterLost):
            with pytest.raises(kind):
                makings.make(VmHost(FakeSupervisor(tmp_path), first, "pod-1"), ORDER)
            with pytest.raises(ColdBoot):
                makings.make(VmHost(FakeSupervisor(tmp_path), second, "pod-2"), ORDER)
        assert (first.tried, second.tried) == (1, 1)

    def test_a_machine_made_elsewhere_after_a_failure_is_used(self, makings: VmFactory, tmp_path: Path) -> None:
        stock, bench = Stock(GuestLost("ill")), FakeSupervisor(tmp_path)
        with pytest.raises(GuestLost):
            makings.make(VmHost(bench, stock), ORDER)
        stock.there = Template(
            place=tmp_path, key=ORDER.key, image="debian", screen=(1280, 800), secret="s", seconds={}, sizes={}
        )
        assert makings.usable_template(VmHost(bench, stock), ORDER) == (stock.there, "")

    def test_a_failure_is_forgotten_after_a_while(
        self, makings: VmFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(vm_factory, "FORGET_FAILURE_SECONDS", 0.0)
        assert failures(makings, GuestLost("ill"), tmp_path)[1] == 3


class RefusingSupervisor(FakeSupervisor):
    """Starts no machine with these accelerators; notes what was tried."""

    def __init__(self, folder: Path, *refused: str) -> None:
        super().__init__(folder)
        self._refused, self.tried = refused, list[str]()

    def start(self, kind: str, machine: MachineSpec, *, secret: str = "", folder: Path | None = None) -> VmHandle:
        self.tried.append(machine.accelerator)
        if machine.accelerator in self._refused:
            raise SupervisorError(f"no machine with {machine.accelerator}")
        return super().start(kind, machine, secret=secret, folder=folder)


class Unchecked(LocalTemplateStore):
    """Of an image without files."""

    def check(self, folder: Path, image: MachineImage) -> None:
        return


KVM_ORDER = VmRequest.for_image(ORDER.folder, ORDER.image, DesktopSpec(screen=ORDER.screen), KVM_HOST)


class TestEmulationInPlaceOfKvm:
    def test_image_that_boots_with_neither_reports_the_kvm_failure(self, tmp_path: Path) -> None:
        supervisor = RefusingSupervisor(tmp_path, "kvm", "tcg")
        with raises_code(ClusterLost, "desktop_not_created", mentions="no machine with kvm"):
            VmFactory(DEFAULT_LIMITS).prepare(VmHost(supervisor, Unchecked(Templates(tmp_path))), KVM_ORDER)
        assert supervisor.tried == ["kvm", "tcg"]

    def test_configured_kvm_has_no_fallback(self, tmp_path: Path) -> None:
        acceleration = dataclasses.replace(ACCELERATED, reason=AccelerationReason.SET)
        host = dataclasses.replace(KVM_HOST, acceleration=acceleration)
        order = VmRequest.for_image(ORDER.folder, ORDER.image, DesktopSpec(screen=ORDER.screen), host)
        supervisor = RefusingSupervisor(tmp_path, "kvm")
        with raises_code(ClusterLost, "desktop_not_created", mentions="no machine with kvm"):
            VmFactory(DEFAULT_LIMITS).prepare(VmHost(supervisor, Unchecked(Templates(tmp_path))), order)
        assert supervisor.tried == ["kvm"]

    def test_the_emulated_template_that_took_kvm_s_place_is_found(self, tmp_path: Path) -> None:
        templates, emulated = Templates(tmp_path), KVM_ORDER.as_emulated("it did not boot")
        with templates.making(emulated.key) as place:
            for name in (MEMORY, STATE, DISK):
                (place / name).touch()
            about = StoredTemplate(emulated.key, "debian", (1280, 800), "s", {}, "it did not boot")
            templates.keep(place, **vars(about))
        supervisor = RefusingSupervisor(tmp_path, "kvm")
        template = VmFactory(DEFAULT_LIMITS).prepare(VmHost(supervisor, Unchecked(templates)), KVM_ORDER)
        assert (template.key, template.why_emulated, supervisor.tried) == (emulated.key, "it did not boot", [])
