"""A whole build in a real machine, a few bytes of code in Windows' place (see tests/factories/windows_media.py)."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import Conflict, Unavailable
from backend.domain.machines.machine_image import verify
from tests.error_codes import raises_code
from tests.factories.vm_hosts import ACCELERATED
from tests.factories.windows_media import FAILED, FINISHED, boot_code, virtio_iso, windows_iso
from worker.images.checks import CheckResult
from worker.images.windows import build as module
from worker.images.windows.__main__ import main
from worker.images.windows.build import Builder
from worker.images.windows.inputs import BuildInputs
from worker.images.windows.machine import Build
from worker.images.windows.options import WindowsBuildOptions
from worker.images.windows.plan import BuildPlan, BuildRequest, ServerArchive, make_plan
from worker.qemu.plan import this_host

MINE = {
    "id": "mine",
    "name": "Mine",
    "version": "1",
    "sets": ["mine"],
    "licence": "free",
    "file": "mine.exe",
    "there": "C:\\mine.exe",
    "commands": ["mine"],
}


@pytest.fixture(autouse=True)
def _programs() -> None:
    for program in ("qemu-system-x86_64", "qemu-img", "xorriso", "genisoimage"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}: apt install qemu-system-x86 qemu-utils xorriso genisoimage")


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python and packages come from the network; that part is not what is tried here."""
    monkeypatch.setattr(
        BuildInputs, "server_parts", lambda *_: {"server": ServerArchive("server.zip", b"zip", "0" * 64)}
    )


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A folder with media, a program and a list of programs."""
    windows_iso(tmp_path)
    virtio_iso(tmp_path)
    (tmp_path / "mine.exe").write_bytes(b"an installer")
    (tmp_path / "programs.yaml").write_text(json.dumps({"programs": [MINE]}))
    return tmp_path


def request(given: Path, **changed: Any) -> BuildRequest:
    options = WindowsBuildOptions(edition="Professional", sets=("mine",), firmware="bios", memory_mib=2048, cpus=1)
    asked = BuildRequest(
        name="win",
        iso=given / "windows.iso",
        virtio=given / "virtio-win.iso",
        options=options,
        data=given / "data",
        brought=given,
        lists=(given / "programs.yaml",),
        minutes=2.0,
    )
    return BuildRequest(**{**asked.__dict__, **changed})


def boots(running: Build, _: BuildPlan) -> tuple[CheckResult, ...]:
    """In the place of the check list: what was put on the golden disk starts from it."""
    running.until_off("programs", seconds=60, press_keys=False, tell=print)
    return (CheckResult(name="the golden disk starts"),)


def build(asked: BuildRequest, check: Callable[[Build, BuildPlan], tuple[CheckResult, ...]] = boots) -> list[str]:
    """The reported stages."""
    told: list[str] = []
    Builder(asked, make_plan(asked), told.append, check=check).build()
    return told


@pytest.mark.sampled(3)
class TestBuild:
    def test_makes_an_image_that_is_never_written_to_again(self, given: Path) -> None:
        told = build(request(given))
        image = verify(given / "data" / "images" / "win")
        assert (image.os, image.variant, image.firmware) == ("windows", "mine", "bios")
        assert image.programs == ("mine", "mine 1")
        assert {package.name for package in image.packages} == {
            "Windows",
            "virtio-win",
            "Mine",
            "Python of the guest server",
        }
        assert all(package.sha256 for package in image.packages)
        assert (given / "data" / "images" / "win" / "disk.qcow2").stat().st_mode & 0o222 == 0
        assert "  Windows: server done: 7" in told
        with raises_code(Conflict, "image_exists", mentions="win"):
            build(request(given))

    def test_a_machine_that_kvm_keeps_from_starting_is_tried_once_by_emulation(
        self, given: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        host = replace(this_host(), acceleration=replace(ACCELERATED, cpu="no-such-processor"))
        monkeypatch.setattr(module, "this_host", lambda _: host)
        lines = build(request(given))
        assert len([line for line in lines if "retrying without" in line]) == 3
        assert verify(given / "data" / "images" / "win").name == "win"

    def test_resumes_at_the_failed_stage(self, given: Path) -> None:
        def broken(_: Build, __: BuildPlan) -> tuple[CheckResult, ...]:
            return (CheckResult(name="Editor starts", fault="no window"),)

        with raises_code(Unavailable, "windows_build_failed", mentions=("1 of 1", "Editor starts")):
            build(request(given), broken)
        told = build(request(given))
        assert [line for line in told if line.endswith("done already")] == [
            "[1/8] reading the media: done already",
            "[2/8] creating the medium for Windows: done already",
            "[3/8] installing Windows: done already",
            "[4/8] creating the medium for programs: done already",
            "[5/8] installing programs: done already",
            "[6/8] writing the golden disk: done already",
        ]

    def test_keeps_windows_when_programs_change(self, given: Path) -> None:
        build(request(given))
        shutil.rmtree(given / "data" / "images")
        (given / "programs.yaml").write_text(json.dumps({"programs": [MINE | {"version": "2"}]}))
        told = build(request(given))
        assert "[3/8] installing Windows: done already" in told
        assert "[4/8] creating the medium for programs: done already" not in told
        assert "2" in {package.version for package in verify(given / "data" / "images" / "win").packages}

    def test_reports_the_failed_stage_and_stores_its_picture(self, given: Path) -> None:
        shutil.rmtree(given / "windows")
        windows_iso(given, boot_code(FAILED, writes=boot_code(FINISHED)))
        with raises_code(Unavailable, "windows_build_failed", mentions=("drivers", "no such driver")):
            build(request(given))
        assert "drivers failed" in (given / "data" / "builds" / "win" / "build.log").read_text()
        assert not (given / "data" / "images").exists()

    def test_a_machine_that_stops_too_early_is_not_a_success(self, given: Path) -> None:
        shutil.rmtree(given / "windows")
        windows_iso(given, boot_code("no report\n", writes=boot_code(FINISHED)))
        with raises_code(Unavailable, "windows_build_failed", mentions="windows"):
            build(request(given))

    def test_a_machine_that_never_comes_to_an_end_is_ended(self, given: Path) -> None:
        shutil.rmtree(given / "windows")
        # A jump to itself: Windows hangs.
        windows_iso(given, b"\xeb\xfe".ljust(510, b"\0") + b"\x55\xaa")
        with raises_code(Unavailable, "windows_build_failed", mentions="0 minutes"):
            build(request(given, minutes=0.05))
        assert (given / "data" / "builds" / "win" / "last-screen.png").read_bytes()[:4] == b"\x89PNG"
        assert subprocess.run(["pgrep", "-f", str(given)], capture_output=True, check=False).stdout == b""

    def test_a_machine_is_not_left_behind_when_we_are_interrupted(self, given: Path) -> None:
        def interrupted(_: Build, __: BuildPlan) -> tuple[CheckResult, ...]:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build(request(given), interrupted)
        assert subprocess.run(["pgrep", "-f", str(given)], capture_output=True, check=False).stdout == b""
        assert not list((given / "data" / "builds" / "win").glob("check.*"))


class TestDryRun:
    def test_lays_out_the_media_and_starts_nothing(self, given: Path, capsys: pytest.CaptureFixture[str]) -> None:
        words = [
            "--iso",
            str(given / "windows.iso"),
            "--virtio",
            str(given / "virtio-win.iso"),
            "--data",
            str(given / "data"),
        ]
        assert (
            main([*words, "--edition", "Windows 11 Pro", "--without", "chrome", "--firmware", "bios", "--dry-run"]) == 0
        )
        told = capsys.readouterr().err
        for part in (
            "stage 3, windows",
            "autounattend.xml",
            "$WinPEDriver$/viostor/w11/amd64/viostor.inf",
            "-machine q35",
        ):
            assert part in told
        folder = given / "data" / "builds" / "windows"
        seen = subprocess.run(
            ["xorriso", "-indev", folder / "dry-run-windows.iso", "-find", "/", "-type", "f"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert "'/autounattend.xml'" in seen
        assert "'/deskarena/setup/run.ps1'" in seen
        assert not list(folder.glob("*.qcow2"))
        assert not (given / "data" / "builds" / "installers").exists()

    @pytest.mark.parametrize(
        ("words", "code", "told"),
        [
            (["--iso", "none.iso"], 2, "--iso: file none.iso does not exist"),
            (["--name", "My Windows"], 2, "is not a valid image name"),
            (["--edition", "Ultimate"], 2, "Editions: Windows 11 Home (Core)"),
            (["--user", "a/b", "--edition", "Core"], 2, "is not a valid Windows user name"),
        ],
    )
    def test_says_what_is_wrong_in_words(
        self, given: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, told: str
    ) -> None:
        known = ["--iso", str(given / "windows.iso"), "--virtio", str(given / "virtio-win.iso"), "--data", str(given)]
        assert main([*known, "--dry-run", *words]) == code
        assert told in capsys.readouterr().err
