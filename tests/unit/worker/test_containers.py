import os
import socket
from pathlib import Path
from uuid import UUID

import pytest

from backend.domain.agents.container import ContainerParams
from worker.containers import Engine, Plan, list_line, lives, owner_mark, remove_line, run_line

ATTEMPT = UUID("018f0000-0000-7000-8000-000000000001")


class TestRunLine:
    def test_the_whole_line(self) -> None:
        params = ContainerParams(image="mine/agent:3", command=("python", "-m", "agent"), memory_mb=512, cpus=0.5)
        plan = Plan(ATTEMPT, params, Path("/tmp/d/agent.sock"), "host:7:99")
        assert run_line("podman", plan) == [
            "podman", "run", "--rm", "--pull", "never",
            "--name", "deskarena-018f0000-0000-7000-8000-000000000001", "--label", "deskarena.worker=host:7:99",
            "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--read-only", "--tmpfs", "/tmp:rw,nosuid,nodev,size=256m",
            "--memory", "512m", "--memory-swap", "512m", "--cpus", "0.5", "--pids-limit", "256",
            "--user", "65534:65534", "--stop-timeout", "2",
            "--volume", "/tmp/d/agent.sock:/run/deskarena/agent.sock",
            "--env", "DESKARENA_SERVER=unix:/run/deskarena/agent.sock", "--env", "DESKARENA_AGENT_TOKEN",
            "--env", "HOME=/tmp",
            "mine/agent:3", "python", "-m", "agent",
        ]  # fmt: skip


class TestOtherLines:
    def test_remove(self) -> None:
        assert remove_line("docker", ["a", "b"]) == ["docker", "rm", "--force", "a", "b"]

    def test_list(self) -> None:
        assert list_line("docker") == [
            "docker", "ps", "--all", "--filter", "label=deskarena.worker",
            "--format", '{{.ID}} {{.Label "deskarena.worker"}}',
        ]  # fmt: skip


class TestParams:
    @pytest.mark.parametrize("image", ["--privileged", "", "a b", "-v", "UPPER"])
    def test_an_image_is_no_option(self, image: str) -> None:
        with pytest.raises(ValueError, match="image"):
            ContainerParams(image=image)


class TestLives:
    def test_this_process_does(self) -> None:
        assert lives(owner_mark())

    def test_one_that_is_gone_or_another_of_the_same_number_does_not(self) -> None:
        host = socket.gethostname()
        assert not lives(f"{host}:999999999:1")
        assert not lives(f"{host}:{os.getpid()}:1")

    def test_other_machines_are_left_alone(self) -> None:
        assert lives("elsewhere:1:1")


class TestWhyNot:
    def test_no_engine(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert Engine().why_not() == "none of docker and podman is installed here"
        assert Engine().sweep() == 0

    def test_an_engine_that_does_not_work(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        program = tmp_path / "docker"
        program.write_text("#!/bin/sh\necho 'no daemon' >&2\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert Engine().why_not() == "docker does not work: no daemon"
