"""`deskarena doctor` on the machine that the tests run on."""

import json
from typing import Any

import pytest

from backend.cli.doctor.check import CheckState
from tests.factories.tiny_machine import needs_qemu
from tests.integration.cli.service import deskarena
from worker.qemu.plan import this_host


@pytest.fixture(scope="module")
def told() -> tuple[int, dict[str, Any]]:
    done = deskarena("doctor", "-o", "json")
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def report(told: tuple[int, dict[str, Any]]) -> tuple[int, dict[str, bool], list[dict[str, str]]]:
    return told[0], told[1]["can"], told[1]["checks"]


class TestDoctor:
    def test_the_exit_code_says_whether_anything_can_run(
        self, report: tuple[int, dict[str, bool], list[dict[str, str]]]
    ) -> None:
        code, can, _ = report
        assert (code == 0) == (can["stack"] and (can["local"] or can["qemu"] or can["k8s"]))

    def test_every_line_says_what_it_means(self, report: tuple[int, dict[str, bool], list[dict[str, str]]]) -> None:
        assert all(check["state"] in set(CheckState) and check["means"] and check["detail"] for check in report[2])

    def test_failures_have_a_remedy(self, report: tuple[int, dict[str, bool], list[dict[str, str]]]) -> None:
        assert all(check["install"] for check in report[2] if check["state"] != "ok")

    def test_each_kind_of_desktop_says_how_many_and_why_or_why_not(self, told: tuple[int, dict[str, Any]]) -> None:
        summary = told[1]["summary"]
        assert [each["name"] for each in summary] == ["stack", "local", "local, Windows programs", "qemu", "k8s"]
        assert all(each["works"] or each["reason"] for each in summary)
        counts = [each["slots"] for each in summary if each["works"] and each["name"] in {"local", "qemu"}]
        assert all(count["reason"].startswith("limited by ") for count in counts)

    def test_database_and_broker_really_start(self, report: tuple[int, dict[str, bool], list[dict[str, str]]]) -> None:
        details = {check["name"]: check["detail"] for check in report[2]}
        assert details["database"].startswith("started in ")
        assert details["broker"].startswith("started in ")


class TestVirtualMachines:
    def test_a_guest_ran_emulated_and_kvm_is_ok_only_where_it_is_used(
        self, report: tuple[int, dict[str, bool], list[dict[str, str]]]
    ) -> None:
        needs_qemu()
        checks = {check["name"]: check for check in report[2]}
        assert checks["qemu"]["state"] == "ok"
        assert "a trial guest took" in checks["qemu"]["detail"]
        assert (checks["kvm"]["state"] == "ok") == (not this_host().emulated)
