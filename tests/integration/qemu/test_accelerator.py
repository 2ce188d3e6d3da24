"""The choice between KVM and emulation: real guests, and a QEMU whose KVM is good, slow, or refuses something."""

import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.error_codes import raises_code
from tests.factories.fake_kvm import FakeKvm, fake_qemu
from tests.factories.tiny_machine import needs_qemu
from tests.waiting import until
from worker.qemu import acceleration_cache, accelerator, arguments
from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.accelerator import AUTO, Chooser, KvmRefused
from worker.qemu.host_facts import UEFI, UEFI_CODE, UEFI_VARS
from worker.qemu.machine import EMULATED_CPU, KVM, TCG, WINDOWS, MachineSpec
from worker.qemu.probe import UNFINISHED, ProbeTimeout, probe_host
from worker.qemu.probe_guest import PARTS
from worker.qemu.process import QemuFailed

pytestmark = pytest.mark.desktop
MACHINE = MachineSpec(
    system="linux",
    type="q35",
    accelerator=TCG,
    cpu=EMULATED_CPU,
    cpus=2,
    memory_mib=128,
    screen=(640, 480),
    disk="",
    disk_size=2**20,
)
WINDOWS_MACHINE = dataclasses.replace(MACHINE, system=WINDOWS)
PERMISSION = "Could not access KVM kernel module: Permission denied"


@pytest.fixture(autouse=True)
def qemu() -> None:
    needs_qemu()


def choose(kvm: FakeKvm, monkeypatch: pytest.MonkeyPatch, *, setting: str = AUTO) -> Acceleration:
    monkeypatch.setattr(accelerator, "DEVICE", Path("/dev/null"))
    with fake_qemu(kvm) as program, probe_host() as host:
        monkeypatch.setattr(arguments, "PROGRAM", program)
        return Chooser(host, MACHINE, WINDOWS_MACHINE, setting).choose()


@pytest.mark.sampled(2)
class TestChoose:
    def test_a_kvm_that_is_clearly_faster_is_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(), monkeypatch)
        assert (choice.accelerator, choice.reason, choice.refused) == (KVM, AccelerationReason.FASTER, ())
        assert choice.cpu == "host"
        assert choice.hints == accelerator.HINTS
        assert set(choice.seconds[KVM]) == set(choice.seconds[TCG]) == set(PARTS)
        assert sum(choice.seconds[TCG].values()) > 1.5 * sum(choice.seconds[KVM].values())

    def test_a_kvm_that_is_slower_than_emulation_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(slow=True), monkeypatch)
        assert (choice.accelerator, choice.reason, choice.hints) == (TCG, AccelerationReason.SLOWER, ())
        assert choice.cpu == EMULATED_CPU

    def test_configured_accelerator_is_used_even_if_slower(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(slow=True), monkeypatch, setting=KVM)
        assert (choice.accelerator, choice.reason) == (KVM, AccelerationReason.SET)

    def test_emulation_that_is_set_is_used_although_kvm_is_faster(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(), monkeypatch, setting=TCG)
        assert (choice.accelerator, choice.reason, set(choice.seconds)) == (TCG, AccelerationReason.SET, {TCG})

    def test_features_that_kvm_refuses_are_left_out_and_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        refused = ("arch-capabilities", "xsaves", "hv-vapic", "hv-time")
        choice = choose(FakeKvm(refused=refused), monkeypatch)
        assert (choice.accelerator, choice.refused) == (KVM, refused)
        assert choice.cpu == "host,-arch-capabilities,-xsaves"
        assert choice.hints == ("hv-relaxed", "hv-spinlocks=0x1fff", "hv-crash")

    def test_a_kvm_that_starts_nothing_is_not_used_and_qemu_s_words_say_why(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        choice = choose(FakeKvm(slow=True, message="failed to set MSR 0x10a to 0x69"), monkeypatch)
        assert (choice.accelerator, choice.reason) == (TCG, AccelerationReason.NO_START)
        assert "MSR 0x10a" in choice.detail

    def test_a_device_that_machines_may_not_open_has_a_reason_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(slow=True, message=PERMISSION), monkeypatch)
        assert (choice.accelerator, choice.reason) == (TCG, AccelerationReason.NO_ACCESS)

    def test_a_kvm_that_loads_no_clone_s_state_is_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        choice = choose(FakeKvm(clones=False), monkeypatch)
        assert (choice.accelerator, choice.reason) == (TCG, AccelerationReason.NO_START)

    def test_an_emulation_that_takes_too_long_cannot_be_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(accelerator, "LIMIT", 0.0)
        with raises_code(QemuFailed, "emulation_too_slow"):
            choose(FakeKvm(), monkeypatch)

    def test_without_a_device_only_emulation_is_measured(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(accelerator, "DEVICE", tmp_path / "kvm")
        with probe_host() as host:
            choice = Chooser(host, MACHINE, WINDOWS_MACHINE, AUTO).choose()
        assert (choice.accelerator, choice.reason, set(choice.seconds)) == (TCG, AccelerationReason.NO_DEVICE, {TCG})


class TestAcceleration:
    def test_a_kvm_that_is_set_and_starts_nothing_is_refused_with_what_to_do(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(acceleration_cache, "private_folder", lambda _: tmp_path)
        monkeypatch.setattr(accelerator, "DEVICE", tmp_path / "kvm")
        with raises_code(KvmRefused, "kvm_refused", mentions="DESKARENA_ACCELERATOR"):
            accelerator.acceleration(MACHINE, WINDOWS_MACHINE, setting=KVM)


@pytest.mark.sampled(1)
class TestProbeHost:
    def test_a_guest_that_is_not_finished_in_time_tells_how_far_it_came(self) -> None:
        with probe_host() as host, pytest.raises(ProbeTimeout) as raised:
            host.run(MACHINE, 0.0)
        assert raised.value.seconds == {UNFINISHED: 0.0}

    def test_files_of_a_killed_trial_are_removed_by_the_next(self, monkeypatch: pytest.MonkeyPatch) -> None:
        short = Path(tempfile.mkdtemp(prefix="p-"))
        monkeypatch.setattr(tempfile, "tempdir", str(short))
        words = [sys.executable, "-S", "-m", "worker.qemu.host_facts", "--fresh"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(short)}) as killed:
            left = until(lambda: list(short.glob("*/s-*/probe/template/memory")), 30, what="a guest is there")
            killed.kill()
        assert left[0].exists()

        def is_swept() -> bool:
            with probe_host():
                return not left[0].exists()

        # A QEMU that was just being forked has the lock for a moment longer.
        until(is_swept, 30)
        assert [each.name.rpartition("-")[0] for each in short.iterdir()] == ["deskarena-accelerator"]
        shutil.rmtree(short)

    def test_uefi_starts_the_same_guest_and_its_clone_runs(self) -> None:
        if not (UEFI / UEFI_CODE).is_file():
            pytest.skip("needs ovmf")
        code, variables = str(UEFI / UEFI_CODE), str(UEFI / UEFI_VARS)
        machine = dataclasses.replace(
            WINDOWS_MACHINE, firmware="uefi", firmware_code=code, firmware_vars=variables, memory_mib=256
        )
        with probe_host() as host:
            assert list(host.run_and_clone(machine, 120.0)) == list(PARTS)
