from dataclasses import replace
from typing import Any

import pytest

from backend.cli.doctor import machine
from backend.cli.doctor.check import CheckState, DoctorCheck
from tests.factories.vm_hosts import ACCELERATED, EMULATED, EMULATING_HOST
from worker.qemu import host_facts
from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.probe import UNFINISHED

SECONDS = {"tcg": {"firmware": 0.1, "compute": 0.4}}
SLOWER = Acceleration(
    accelerator="tcg",
    reason=AccelerationReason.SLOWER,
    detail="slower than emulation (over 20 times)",
    refused=("arch-capabilities",),
    seconds=SECONDS | {"kvm": {"firmware": 4.0, UNFINISHED: 6.0}},
)


def checks(choice: Acceleration) -> dict[str, DoctorCheck]:
    acceleration: dict[str, Any] = {**choice.to_json(), "seconds": dict(choice.seconds) or SECONDS}
    facts = {"qemu": EMULATING_HOST.qemu, "acceleration": acceleration}
    return {check.name: check for check in machine.usable(facts)}


class TestUsable:
    @pytest.mark.parametrize(
        ("choice", "state"),
        [
            (ACCELERATED, CheckState.OK),
            (SLOWER, CheckState.BROKEN),
            (EMULATED, CheckState.MISSING),
            (replace(SLOWER, reason=AccelerationReason.SET), CheckState.UNTRIED),
        ],
    )
    def test_kvm_is_ok_only_where_it_is_used(self, choice: Acceleration, state: CheckState) -> None:
        assert (checks(choice)["kvm"].state, checks(choice)["qemu"].state) == (state, CheckState.OK)

    def test_the_remedy_depends_on_the_reason(self) -> None:
        denied = replace(SLOWER, reason=AccelerationReason.NO_ACCESS)
        hints = {checks(choice)["kvm"].install for choice in (EMULATED, SLOWER, denied)}
        assert len(hints) == 3

    def test_slow_kvm_is_reported_with_figures(self) -> None:
        assert checks(SLOWER)["kvm"].detail == (
            "slower than emulation (over 20 times); machines are emulated; it refuses: arch-capabilities; "
            "the trial guest was stopped after 10.0 s with it"
        )
        assert checks(SLOWER)["qemu"].detail.endswith("a trial guest took 0.5 s emulated")


class TestUnusable:
    def test_without_qemu_neither_works(self) -> None:
        states = {check.name: check.state for check in machine.unusable("qemu-system-x86_64 cannot be used")}
        assert set(states) == {"kvm", "qemu"}
        assert CheckState.OK not in states.values()


class TestKvmRefused:
    def test_kvm_is_what_is_wrong_and_no_package_helps(self) -> None:
        checks = {check.name: check for check in machine.kvm_refused("DESKARENA_ACCELERATOR is kvm, but ...")}
        assert (checks["kvm"].state, checks["qemu"].state) == (CheckState.BROKEN, CheckState.UNTRIED)
        assert "DESKARENA_ACCELERATOR to auto" in checks["kvm"].install
        assert "apt" not in checks["kvm"].install + checks["qemu"].install

    def test_codes_are_those_of_the_worker(self) -> None:
        assert (machine.KVM_REFUSED_EXIT, machine.UNFINISHED) == (host_facts.KVM_REFUSED_EXIT, UNFINISHED)
