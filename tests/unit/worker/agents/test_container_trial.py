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
    def test_one_that_runs_a_container_as_agents_need_it(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path)
        assert trial.why_not() == ""
        asked = calls.read_text().splitlines()
        assert [line.split()[0] for line in asked] == ["version", "import", "run", "rm", "rmi"]
        assert "--network none --cap-drop ALL" in asked[2]

    def test_it_is_run_once_and_the_engine_asked_each_time(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path)
        assert [trial.why_not() for _ in range(2)] == ["", ""]
        asked = [line.split()[0] for line in calls.read_text().splitlines()]
        assert (asked.count("run"), asked.count("version")) == (1, 2)

    def test_one_that_does_not_answer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(containers, "ASK_SECONDS", 0.2)
        trial, _ = engine(tmp_path, version="exec sleep 60")
        assert trial.why_not().endswith("version does not respond")

    def test_one_that_takes_no_image(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, **{"import": "cat > /dev/null; echo 'no space left' >&2; exit 1"})
        assert "cannot load an image: no space left" in trial.why_not()
        assert "run" not in calls.read_text()

    def test_one_that_answers_and_runs_nothing(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, run="echo 'OCI runtime create failed: no memory controller' >&2; exit 125")
        assert "cannot run a container with the settings of agents: OCI runtime create failed" in trial.why_not()
        assert [line.split()[0] for line in calls.read_text().splitlines()][-2:] == ["rm", "rmi"], "nothing is left"

    def test_failures_are_not_retried_at_once(self, tmp_path: Path) -> None:
        trial, calls = engine(tmp_path, run="exit 125")
        assert trial.why_not() == trial.why_not() != ""
        assert [line.split()[0] for line in calls.read_text().splitlines()].count("run") == 1

    def test_none(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert "is installed" in ContainerTrial(Engine()).why_not()

    def test_the_one_of_this_machine(self) -> None:
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
    def test_its_program_ends_with_0(self, tmp_path: Path) -> None:
        program = tmp_path / "trial"
        program.write_bytes(probe_program(platform.machine()) or b"")
        program.chmod(0o755)
        assert subprocess.run([program], check=False).returncode == os.EX_OK

    def test_it_holds_the_folders_that_are_mounted_over(self) -> None:
        with tarfile.open(fileobj=io.BytesIO(image_archive(b"x"))) as archive:
            assert set(archive.getnames()) == {"tmp", "run", "run/deskarena", "trial"}

    def test_a_machine_whose_code_is_not_written_down(self) -> None:
        assert probe_program("riscv64") is None
