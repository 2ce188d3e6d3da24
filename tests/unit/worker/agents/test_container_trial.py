"""Engines that answer, and run nothing; and this machine's own, where it has one."""

import io
import os
import platform
import subprocess
import tarfile
from pathlib import Path

import pytest

from worker.agents import containers
from worker.agents.container_trial import ContainerTrial, image_archive, probe_program
from worker.agents.containers import Engine

GOOD = {"version": "exit 0", "import": "cat > /dev/null", "run": "exit 0"}


def engine(folder: Path, **verbs: str) -> tuple[ContainerTrial, Path]:
    """A fake engine: a script per verb, and the log of its calls."""
    cases = "\n".join(f"{verb}) {script};;" for verb, script in {**GOOD, **verbs}.items())
    program, calls = folder / "docker", folder / "calls"
    program.write_text(f'#!/bin/sh\necho "$*" >> {calls}\ncase "$1" in\n{cases}\nesac\n')
    program.chmod(0o755)
    return ContainerTrial(Engine(str(program))), calls


class TestWhyNot:
    def test_working_engine_passes_the_trial(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path)
        assert trial.why_not() == ""
        asked = calls.read_text().splitlines()
        assert [line.split()[0] for line in asked] == ["version", "import", "run", "rm", "rmi"]
        assert "--network none --cap-drop ALL" in asked[2]

    def test_successful_trial_is_cached_but_version_is_checked_again(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path)
        assert [trial.why_not() for _ in range(2)] == ["", ""]
        asked = [line.split()[0] for line in calls.read_text().splitlines()]
        assert (asked.count("run"), asked.count("version")) == (1, 2)

    def test_silent_engine_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(containers, "ASK_SECONDS", 0.2)
        trial, _ = engine(tmp_path, version="exec sleep 60")
        assert trial.why_not().endswith("version does not respond")

    def test_engine_that_cannot_load_images_is_reported(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, **{"import": "cat > /dev/null; echo 'no space left' >&2; exit 1"})
        assert "cannot load an image: no space left" in trial.why_not()
        assert "run" not in calls.read_text()

    def test_engine_that_cannot_run_containers_is_reported_and_cleaned_up(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, run="echo 'OCI runtime create failed: no memory controller' >&2; exit 125")
        assert "cannot run a container with the settings of agents: OCI runtime create failed" in trial.why_not()
        assert [line.split()[0] for line in calls.read_text().splitlines()][-2:] == ["rm", "rmi"], "nothing is left"

    def test_failure_is_not_retried_immediately(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, run="exit 125")
        assert trial.why_not() == trial.why_not() != ""
        assert [line.split()[0] for line in calls.read_text().splitlines()].count("run") == 1

    def test_missing_engine_is_reported(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "is installed" in ContainerTrial(Engine()).why_not()

    def test_real_engine_passes_the_trial(self) -> None:
        if why := Engine().why_not():
            pytest.skip(f"needs a container engine: {why}")
        trial = ContainerTrial(Engine())
        assert trial.why_not() == ""
        left = subprocess.run(
            [trial.engine.program, "images", "--quiet", "deskarena-trial"], capture_output=True, check=True
        )
        assert left.stdout == b""


class TestImage:
    @pytest.mark.skipif(platform.machine() not in {"x86_64", "aarch64"}, reason="needs a machine it is written for")
    def test_probe_program_exits_with_0(self, tmp_path: Path) -> None:
        program = tmp_path / "trial"
        program.write_bytes(probe_program(platform.machine()) or b"")
        program.chmod(0o755)
        assert subprocess.run([program], check=False).returncode == os.EX_OK

    def test_contains_the_mount_points(self) -> None:
        with tarfile.open(fileobj=io.BytesIO(image_archive(b"x"))) as archive:
            assert set(archive.getnames()) == {"tmp", "run", "run/deskarena", "trial"}

    def test_unknown_architecture_has_no_image(self) -> None:
        assert probe_program("riscv64") is None
