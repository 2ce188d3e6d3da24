import os
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from backend.domain.agents.container import ContainerParams
from backend.domain.errors import AgentFailed, ClusterLost
from tests.error_codes import raises_code
from tests.fakes.engine import ScriptedEngine
from tests.waiting import until
from worker.agents.containers import (
    ContainerSpec,
    ContainerState,
    Engine,
    RunningContainer,
    list_line,
    lives,
    not_the_programs,
    owner_mark,
    remove_line,
    run_line,
    state_line,
)

ATTEMPT = UUID("018f0000-0000-7000-8000-000000000001")


class TestRunLine:
    def test_complete_run_command(self) -> None:
        params = ContainerParams(image="mine/agent:3", command=("python", "-m", "agent"), memory_mb=512, cpus=0.5)
        plan = ContainerSpec(ATTEMPT, params, Path("/tmp/d/agent.sock"), "host:7:99")
        assert run_line("podman", plan) == [
            "podman", "run", "--pull", "never",
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
    def test_remove_command_forces_removal(self) -> None:
        assert remove_line("docker", ["a", "b"]) == ["docker", "rm", "--force", "a", "b"]

    def test_inspect_command_prints_the_state(self) -> None:
        assert state_line("docker", "a") == [
            "docker", "inspect", "--type", "container", "--format", "{{json .State}}", "a",
        ]  # fmt: skip

    def test_list_command_prints_ids_and_workers(self) -> None:
        assert list_line("docker") == [
            "docker", "ps", "--all", "--filter", "label=deskarena.worker",
            "--format", '{{.ID}} {{.Label "deskarena.worker"}}',
        ]  # fmt: skip


class TestParams:
    @pytest.mark.parametrize("image", ["--privileged", "", "a b", "-v", "UPPER"])
    def test_image_must_not_look_like_an_option(self, image: str) -> None:
        with pytest.raises(ValueError, match="image"):
            ContainerParams(image=image)


class TestLives:
    def test_running_process_lives(self) -> None:
        assert lives(owner_mark())

    def test_dead_process_and_reused_pid_do_not_live(self) -> None:
        host = socket.gethostname()
        assert not lives(f"{host}:999999999:1")
        assert not lives(f"{host}:{os.getpid()}:1")

    def test_processes_of_other_hosts_count_as_living(self) -> None:
        assert lives("elsewhere:1:1")


class TestWhyNot:
    def test_missing_engine_is_reported(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert Engine().why_not() == "neither docker nor podman is installed"
        assert Engine().sweep() == 0

    def test_broken_engine_is_reported(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        program = tmp_path / "docker"
        program.write_text("#!/bin/sh\necho 'no daemon' >&2\nexit 1\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert Engine().why_not() == "docker does not work: no daemon"

    def test_engine_installed_later_is_found(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        engine = Engine()
        (tmp_path / "podman").touch(0o755)
        assert engine.program == "podman"


class TestState:
    def test_reads_docker_inspect_output(self) -> None:
        said = '{"Status":"exited","Running":false,"OOMKilled":true,"Dead":false,"Pid":0,"ExitCode":137,"Error":""}\n'
        assert ContainerState.read(said) == ContainerState("exited", out_of_memory=True)

    @pytest.mark.parametrize("said", ["", "[]", "null", "{}", '{"Status":"exited"}', "no"])
    def test_invalid_output_gives_no_state(self, said: str) -> None:
        assert ContainerState.read(said) is None


ENDED = ContainerState("exited", out_of_memory=False)


class TestNotThePrograms:
    @pytest.mark.parametrize("code", [0, 1, 2, 125, 139, 143])
    def test_exit_that_the_engine_confirms_is_the_programs(self, code: int) -> None:
        assert not_the_programs(code, ENDED) == ""

    @pytest.mark.parametrize("code", [126, 127])
    def test_missing_command_is_the_programs(self, code: int) -> None:
        assert not_the_programs(code, ContainerState("created", out_of_memory=False)) == ""

    def test_out_of_memory_is_the_programs(self) -> None:
        assert not_the_programs(137, ContainerState("exited", out_of_memory=True)) == ""

    def test_kill_without_memory_limit_is_not_the_programs(self) -> None:
        assert not_the_programs(137, ENDED) == "it was killed, but not for its memory limit"

    @pytest.mark.parametrize("code", [0, 2, 137, 143])
    def test_unknown_state_is_not_the_programs(self, code: int) -> None:
        assert not_the_programs(code, None) == "the engine does not report how it ended"

    @pytest.mark.parametrize(
        "state", [None, ContainerState("created", out_of_memory=False), ContainerState("running", out_of_memory=False)]
    )
    def test_engine_exit_code_is_not_the_programs(self, state: ContainerState | None) -> None:
        assert not_the_programs(125, state) == "the engine failed"

    def test_killed_client_is_not_the_programs(self) -> None:
        assert not_the_programs(-9, ENDED) == "the engine's client was killed by signal 9"

    def test_running_container_is_not_the_programs(self) -> None:
        running = ContainerState("running", out_of_memory=False)
        assert not_the_programs(1, running) == "the engine's client ended before the container"


@pytest.fixture
def scripted(tmp_path: Path) -> ScriptedEngine:
    return ScriptedEngine(tmp_path / "engine")


@pytest.fixture
def running(scripted: ScriptedEngine) -> Iterator[RunningContainer]:
    params = ContainerParams(image="mine/agent:3", memory_mb=512)
    found = scripted.engine.run(ContainerSpec(ATTEMPT, params, Path("/tmp/d/agent.sock"), owner_mark()), "dka_1")
    yield found
    found.close()


def _end(running: RunningContainer) -> None:
    until(lambda: running.ended, what="its end is noticed")
    running.check()


class TestEnd:
    def test_running_container_raises_nothing(self, running: RunningContainer) -> None:
        running.check()
        assert not running.ended

    def test_exit_code_fails_the_agent(self, scripted: ScriptedEngine, running: RunningContainer) -> None:
        scripted.ends(3)
        with raises_code(AgentFailed, "container_exited", mentions="3"):
            _end(running)

    def test_memory_limit_fails_the_agent(self, scripted: ScriptedEngine, running: RunningContainer) -> None:
        scripted.ends(137, oom=True)
        with raises_code(AgentFailed, "container_out_of_memory", mentions=("512", "MiB")):
            _end(running)

    def test_foreign_kill_is_an_infrastructure_loss(self, scripted: ScriptedEngine, running: RunningContainer) -> None:
        scripted.ends(137)
        with raises_code(ClusterLost, "container_killed"):
            _end(running)

    def test_engine_failure_is_an_infrastructure_loss(
        self, scripted: ScriptedEngine, running: RunningContainer
    ) -> None:
        scripted.exits(125)
        with raises_code(ClusterLost, "container_killed", mentions="125"):
            _end(running)

    def test_clean_exit_with_a_stopped_engine_is_an_infrastructure_loss(
        self, scripted: ScriptedEngine, running: RunningContainer
    ) -> None:
        scripted.goes_away()
        scripted.ends(0)
        with raises_code(ClusterLost, "container_killed"):
            _end(running)

    def test_killed_client_is_an_infrastructure_loss(self, scripted: ScriptedEngine, running: RunningContainer) -> None:
        scripted.ends("KILL", "running")
        with raises_code(ClusterLost, "container_killed", mentions="9"):
            _end(running)

    def test_container_is_inspected_before_removal(self, scripted: ScriptedEngine, running: RunningContainer) -> None:
        scripted.ends(0)
        until(lambda: running.ended)
        assert (len(scripted.calls("inspect")), scripted.calls("rm")) == (1, [])
        running.close()
        assert scripted.calls("rm") == [f"rm --force deskarena-{ATTEMPT}"]


class TestRemove:
    def test_containers_of_an_unreachable_engine_are_removed_later(self, scripted: ScriptedEngine) -> None:
        scripted.goes_away()
        scripted.engine.remove("a")
        scripted.comes_back()
        scripted.engine.sweep()
        scripted.engine.sweep()
        assert scripted.calls("rm") == ["rm --force a"] * 2

    def test_absent_containers_count_as_removed(self, scripted: ScriptedEngine) -> None:
        (scripted.folder / "missing").touch()
        scripted.engine.remove("a")
        scripted.engine.sweep()
        assert scripted.calls("rm") == ["rm --force a"]
