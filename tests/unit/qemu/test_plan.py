import dataclasses
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import ClusterLost
from backend.domain.machines.machine_image import DirectBoot, ImageFile, MachineImage, SystemDisk
from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code
from tests.factories.vm_hosts import ACCELERATED, EMULATED, EMULATING_HOST, KVM_HOST
from worker.qemu import plan
from worker.qemu.acceleration import AccelerationReason
from worker.qemu.plan import Host, machine_of, template_key

SCREEN = ScreenSize(width=800, height=600)
HOST = EMULATING_HOST
FOLDER = Path("/images/mini")


def file(name: str, sha256: str = "0" * 64) -> ImageFile:
    return ImageFile(file=name, sha256=sha256, size=1)


IMAGE = MachineImage(
    name="mini",
    os="linux",
    variant="minimal",
    version="1",
    made_at=datetime(2026, 1, 1, tzinfo=UTC),
    guest_api="1.1",
    screens=(SCREEN, ScreenSize(width=640, height=480)),
    memory_mib=512,
    cpus=2,
    firmware="bios",
    disk=SystemDisk(file="disk.qcow2", sha256="1" * 64, size=1, virtual_size=2**30),
    boot=DirectBoot(
        kernel=file("vmlinuz"), initrd=file("initrd.img"), command_line="quiet", screen_option="s={width}x{height}"
    ),
)


class TestMachineOf:
    def test_takes_what_the_image_says(self) -> None:
        made = machine_of(FOLDER, IMAGE, SCREEN, HOST)
        assert (made.disk, made.kernel) == ("/images/mini/disk.qcow2", "/images/mini/vmlinuz")
        assert made.command_line.startswith("quiet s=800x600 ")
        assert (made.accelerator, made.screen, made.memory_mib) == ("tcg", (800, 600), 512)

    def test_an_emulated_processor_has_no_avx(self) -> None:
        assert machine_of(FOLDER, IMAGE, SCREEN, HOST).cpu.startswith("Nehalem")

    def test_an_emulated_guest_may_read_the_accessibility_tree_for_longer(self) -> None:
        assert "A11Y_SECONDS=80" in machine_of(FOLDER, IMAGE, SCREEN, HOST).command_line
        assert machine_of(FOLDER, IMAGE, SCREEN, KVM_HOST).command_line == "quiet s=800x600"
        assert (HOST.patience, KVM_HOST.patience) == (4.0, 1.0)

    def test_with_kvm_the_machine_sees_the_host_s_processor_without_what_is_refused(self) -> None:
        assert machine_of(FOLDER, IMAGE, SCREEN, KVM_HOST).cpu == "host,-pdcm"

    def test_windows_gets_the_hints_that_this_kvm_takes(self) -> None:
        windows = IMAGE.model_copy(update={"os": "windows"})
        assert machine_of(FOLDER, windows, SCREEN, KVM_HOST).cpu == "host,-pdcm,hv-relaxed,hv-crash"
        assert machine_of(FOLDER, windows, SCREEN, HOST).cpu.startswith("Nehalem")

    def test_a_machine_that_does_not_boot_with_kvm_becomes_an_emulated_one(self) -> None:
        host = KVM_HOST.as_emulated("the image did not boot with KVM")
        machine = machine_of(FOLDER, IMAGE, SCREEN, host)
        assert (machine.accelerator, host.acceleration.reason, host.chose_kvm) == (
            "tcg",
            AccelerationReason.NO_BOOT,
            False,
        )
        assert machine == machine_of(FOLDER, IMAGE, SCREEN, HOST)

    def test_a_screen_that_it_cannot_show_says_which_it_can(self) -> None:
        with pytest.raises(ClusterLost) as raised:
            machine_of(FOLDER, IMAGE, ScreenSize(width=1024, height=768), HOST)
        assert raised.value.hint == "Supported: 800x600, 640x480."


class TestThisHost:
    def test_a_trial_that_takes_too_long_is_the_cluster_s_loss(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(plan, "FACTS_SECONDS", 0.001)
        with raises_code(ClusterLost, "qemu_not_usable"):
            plan.this_host()


def key(image: MachineImage = IMAGE, screen: ScreenSize = SCREEN, host: Host = HOST) -> str:
    return template_key(image, machine_of(FOLDER, image, screen, host), host)


class TestTemplateKey:
    def test_is_the_same_wherever_the_data_folder_lies(self) -> None:
        elsewhere = template_key(IMAGE, machine_of(Path("/x/mini"), IMAGE, SCREEN, HOST), HOST)
        assert elsewhere == key()

    @pytest.mark.parametrize(
        "change",
        [
            {"version": "2"},
            {"memory_mib": 1024},
            {"cpus": 1},
            {"disk": IMAGE.disk.model_copy(update={"sha256": "2" * 64})},
            {"devices": IMAGE.devices.model_copy(update={"display": "VGA"})},
        ],
    )
    def test_changes_with_the_image(self, change: dict[str, object]) -> None:
        assert key(image=IMAGE.model_copy(update=change)) != key()

    @pytest.mark.parametrize(
        "change",
        [
            {"qemu": "QEMU emulator version 8"},
            {"type": "pc-q35-8.0"},
            {"acceleration": ACCELERATED},
            {"processor": "x"},
        ],
    )
    def test_changes_with_the_host(self, change: dict[str, Any]) -> None:
        assert key(host=dataclasses.replace(HOST, **change)) != key()

    def test_changes_with_the_screen(self) -> None:
        assert key(screen=ScreenSize(width=640, height=480)) != key()

    def test_does_not_change_with_the_reason_why_it_is_slow(self) -> None:
        emulated = dataclasses.replace(EMULATED, detail="another")
        assert key(host=dataclasses.replace(HOST, acceleration=emulated)) == key()
