import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from guest_server.linux import health as linux_health
from guest_server.linux.health import RunningProcess, disks, limits_reached, locker, of_a_task, pending, running
from guest_server.protocol.health_facts import Process

BEFORE = frozenset({(2, 100), (7, 110)})


def process(
    name: str, pid: int = 50, *, uid: int = 1000, born: int = 900, words: tuple[str, ...] = ()
) -> RunningProcess:
    return RunningProcess(pid, uid, born, name, words or (name,))


def enter(proc: Path, pid: int, name: str, state: str = "S", words: bytes = b"x\0") -> None:
    """A process's folder as the kernel shows it."""
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} ({name}) {state} 1 {' '.join(str(number) for number in range(5, 40))}\n")
    (folder / "cmdline").write_bytes(words)


class TestRunning:
    def test_reads_name_words_and_birth(self, tmp_path: Path) -> None:
        enter(tmp_path, 12, "a (b) c", words=b"/bin/a\0-x\0")
        assert list(running(tmp_path)) == [RunningProcess(12, os.getuid(), 22, "a (b) c", ["/bin/a", "-x"])]

    def test_leaves_out_zombies_and_threads_of_the_kernel(self, tmp_path: Path) -> None:
        enter(tmp_path, 12, "dead", "Z")
        enter(tmp_path, 13, "kthreadd", words=b"")
        (tmp_path / "self").mkdir()
        assert list(running(tmp_path)) == []

    def test_this_one_runs(self) -> None:
        assert os.getpid() in {each.pid for each in running()}


class TestOfATask:
    def test_processes_started_later(self) -> None:
        assert of_a_task([process("sleep")], BEFORE, 1000) == [Process(50, "sleep")]

    def test_a_number_that_was_given_again_is_another_process(self) -> None:
        assert of_a_task([process("sleep", 7)], BEFORE, 1000) == [Process(7, "sleep")]

    @pytest.mark.parametrize(
        "found",
        [
            process("openbox", 7, born=110),
            process("cron", uid=0),
            process("dconf-service"),
            process("at-spi2-registr"),
            process("python3", words=("/usr/bin/python3", "-m", "guest_server.linux.a11y_helper")),
        ],
    )
    def test_system_processes_are_not_a_tasks(self, found: RunningProcess) -> None:
        assert of_a_task([found], BEFORE, 1000) == []


class TestPending:
    def test_nothing_is_pending(self, tmp_path: Path) -> None:
        assert pending([process("sleep")], [tmp_path / "no"]) == []

    def test_a_restart_and_a_package_manager(self, tmp_path: Path) -> None:
        (tmp_path / "reboot-required").touch()
        result = pending([process("dpkg", uid=0), process("dpkg", 51, uid=0)], [tmp_path / "reboot-required"])
        assert result == ["a restart is due after an update", "dpkg is running"]


class TestLocker:
    def test_locker_names_the_screen_locker(self) -> None:
        assert locker([process("sleep"), process("i3lock")]) == "i3lock"
        assert locker([process("sleep")]) == ""


class TestDisks:
    def test_file_system_is_listed_once(self, tmp_path: Path) -> None:
        (tmp_path / "a").mkdir()
        result = disks(tmp_path, tmp_path / "a")
        assert [disk.path for disk in result] == [str(tmp_path)]
        assert 0 < result[0].free <= result[0].size

    def test_an_absent_folder_raises(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            disks(tmp_path / "absent")


class TestLinuxHealth:
    def test_settling_again_resets_known_processes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(linux_health, "running", lambda: iter([process("sleep", uid=os.getuid())]))
        without_saver: Any = nullcontext(SimpleNamespace(display=SimpleNamespace(has_extension=lambda _: False)))
        health = linux_health.LinuxHealth(Path("/"), client=without_saver)
        assert [each.name for each in health.facts().processes] == ["sleep"]
        health.settled()
        assert health.facts().processes == []

    def test_disks_are_read_without_a_look_at_processes(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """An agent may have started thousands, and then nobody would learn whether its disk is full."""
        monkeypatch.setattr(linux_health, "running", lambda: pytest.fail("processes were looked at"))
        health = linux_health.LinuxHealth(tmp_path, client=nullcontext())  # type: ignore[arg-type]
        assert health.disks()[0].path == str(tmp_path)


class TestLimitsReached:
    def test_of_the_group_and_those_above_it(self, tmp_path: Path) -> None:
        session = tmp_path / "groups" / "user.slice" / "user-1000.slice" / "session-1.scope"
        session.mkdir(parents=True)
        (session / "pids.events").write_text("max 3\n")
        (session / "memory.events").write_text("low 0\noom 1\noom_kill 0\n")
        (session.parent / "memory.events").write_text("low 0\noom 2\noom_kill 2\n")
        (tmp_path / "cgroup").write_text("0::/user.slice/user-1000.slice/session-1.scope\n")
        assert limits_reached(tmp_path / "cgroup", tmp_path / "groups") == {"memory": 2, "processes": 3}

    @pytest.mark.parametrize("membership", ["", "3:memory:/a\n"])
    def test_unknown_without_groups_of_version_2(self, tmp_path: Path, membership: str) -> None:
        (tmp_path / "cgroup").write_text(membership)
        assert limits_reached(tmp_path / "cgroup", tmp_path) == {}
        assert limits_reached(tmp_path / "none", tmp_path) == {}
