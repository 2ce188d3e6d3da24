"""The process guard with real children: no descendant outlives its parent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from backend.cli.embedded.process_spawn import GuardedProcess, Identity, run_to_end, spawn
from backend.cli.errors import StackError
from tests.error_codes import raises_code
from tests.integration.embedded.helpers import gone, python, until

STUBBORN = (
    "import signal, time\n"
    "for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
    "print('ready', flush=True)\n"
    "signal.pause()"
)
# A daemon as daemons are made: its own session, its parent gone.
WITH_DAEMON = (
    "import os, signal\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "    if os.fork() == 0:\n"
    "        print('daemon', os.getpid(), flush=True)\n"
    "        signal.pause()\n"
    "    os._exit(0)\n"
    "signal.pause()"
)
PAUSE = "import signal; print('ready', flush=True); signal.pause()"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "child.log"


def says(log: Path, word: str) -> bool:
    """Whether a whole line of the log has the word: the child's parts of a line may come one by one."""
    return log.exists() and any(word in line for line in log.read_text().splitlines(keepends=True) if line[-1] == "\n")


def started(code: str, log: Path, word: str = "ready", **more: object) -> GuardedProcess:
    process = spawn(python(code, log, **more))
    until(lambda: says(log, word), f"the child said {word!r}")
    return process


class TestExit:
    def test_reports_exit_code_and_last_lines(self, log: Path) -> None:
        process = spawn(python("import sys; print('out', flush=True); sys.exit('broken pipe dream')", log))
        ended = process.wait(60)
        assert ended is not None
        assert (ended.code, ended.signal, ended.tail) == (1, None, ("out", "broken pipe dream"))
        assert ended.reason == "exit code 1"
        assert log.read_text() == "out\nbroken pipe dream\n"

    def test_exit_reason_names_the_signal_that_killed_the_process(self, log: Path) -> None:
        process = started(PAUSE, log)
        os.kill(process.pid, signal.SIGSEGV)
        ended = process.wait(60)
        assert ended is not None
        assert ended.reason == "killed by SIGSEGV"

    def test_missing_program_is_reported(self, log: Path) -> None:
        spec = python("", log)
        with raises_code(StackError, "process_crashed", mentions="/no/such/program"):
            run_to_end(type(spec)(**{**vars(spec), "argv": ("/no/such/program",)}), 20)


class TestStop:
    def test_stop_ends_the_process_in_an_orderly_way(self, log: Path) -> None:
        process = started(
            "import signal, sys; signal.signal(15, lambda *_: sys.exit(7)); print('ready'); signal.pause()",
            log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stop().code == 7
        assert gone(process.pid)

    def test_stubborn_process_is_killed(self, log: Path) -> None:
        process = started(STUBBORN, log, stop=((signal.SIGTERM, 0.3),))
        assert process.stop().reason == "killed by SIGKILL"

    def test_grandchildren_may_clean_up(self, log: Path) -> None:
        # The grandchild watches a pipe of its parent's, needs a moment, and leaves a word.
        code = (
            "import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "watched, held = os.pipe()\n"
            "if os.fork() == 0:\n"
            "    os.close(held)\n"
            "    print('ready', flush=True)\n"
            "    os.read(watched, 1)\n"
            "    deadline = time.monotonic() + 0.3\n"
            "    while time.monotonic() < deadline: pass\n"
            "    print('tidy', flush=True)\n"
            "    os._exit(0)\n"
            "signal.pause()"
        )
        process = started(code, log, stop=((signal.SIGTERM, 0.1),))
        ended = process.stop()
        assert ended.reason == "killed by SIGKILL"
        assert ended.tail[-1] == "tidy"

    def test_goes_through_its_signals_in_order(self, log: Path) -> None:
        process = started(STUBBORN, log, stop=((signal.SIGTERM, 0.2), (signal.SIGUSR1, 60.0)))
        assert process.stop().reason == "killed by SIGUSR1"

    def test_second_stop_returns_the_same_exit(self, log: Path) -> None:
        process = started(PAUSE, log)
        assert process.stop() == process.stop()

    def test_kill_does_not_wait_for_deadlines(self, log: Path) -> None:
        process = started(STUBBORN, log, stop=((signal.SIGTERM, 300.0),))
        process.request_stop()
        process.kill()
        ended = process.wait(60)
        assert ended is not None
        assert ended.reason == "killed by SIGKILL"
        process.stop()


class TestDescendants:
    def test_a_daemon_of_a_dead_child_is_ended(self, log: Path) -> None:
        process = started(WITH_DAEMON, log, "daemon", orphan_seconds=0.3)
        daemon = int(log.read_text().split()[1])
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: gone(daemon), "the daemon is gone")
        process.stop()

    def test_stop_returns_after_all_descendants_have_ended(self, log: Path) -> None:
        process = started(WITH_DAEMON, log, "daemon", orphan_seconds=0.3)
        daemon = int(log.read_text().split()[1])
        process.stop()
        assert gone(daemon)


class TestSupervisorKilled:
    """Kills the process at the other end with SIGKILL."""

    CODE = (
        "import sys, signal\n"
        "from pathlib import Path\n"
        "from tests.integration.embedded import test_process_guard as t\n"
        "process = t.started(getattr(t, sys.argv[1]), Path(sys.argv[2]), sys.argv[3], orphan_seconds=0.5,"
        " stop=((signal.SIGTERM, 300.0),), abandoned_seconds=0.5, remove=(Path(sys.argv[4]),))\n"
        "print(process.pid, flush=True)\n"
        "signal.pause()\n"
    )

    @pytest.mark.parametrize(("what", "word"), [("PAUSE", "ready"), ("STUBBORN", "ready"), ("WITH_DAEMON", "daemon")])
    def test_killed_supervisor_leaves_nothing(self, log: Path, tmp_path: Path, what: str, word: str) -> None:
        leftover = tmp_path / "base" / "runtime"
        (leftover / "inner").mkdir(parents=True)
        (leftover / "inner" / "file").touch()
        command = [sys.executable, "-W", "error", "-c", self.CODE, what, str(log), word, str(leftover)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            child = int(holder.stdout.readline())
            guard = psutil.Process(child).ppid()
            all_of_them = [guard, child, *(int(word) for word in log.read_text().split() if word.isdigit())]
            holder.kill()
        for pid in all_of_them:
            until(lambda pid=pid: gone(pid), f"process {pid} is gone", 60)  # type: ignore[misc]
        assert not leftover.parent.exists()

    def test_a_child_does_not_outlive_its_killed_guard(self, log: Path) -> None:
        process = started(PAUSE, log)
        psutil.Process(process.pid).parent().kill()  # type: ignore[union-attr]
        ended = process.wait(60)
        assert ended is not None
        assert ended.reason == "its guard was killed"
        until(lambda: gone(process.pid), "the child is gone")


class TestSurroundings:
    def test_child_gets_only_the_given_environment(self, log: Path) -> None:
        code = "import os; print(sorted(os.environ))"
        spec = python(code, log, env={"ONLY": "this", "LC_CTYPE": "C.UTF-8"})
        assert run_to_end(spec, 20).tail == ("['LC_CTYPE', 'ONLY']",)

    def test_secrets_go_through_stdin(self, log: Path) -> None:
        assert run_to_end(python("print(input()[::-1])", log, stdin="terces\n"), 20).tail == ("secret",)

    def test_only_named_descriptors_are_passed(self, log: Path, tmp_path: Path) -> None:
        with (tmp_path / "a").open("w") as passed, (tmp_path / "b").open("w") as held:
            code = f"import os; print(os.readlink('/proc/self/fd/{passed.fileno()}')); os.fstat({held.fileno()})"
            spec = python(code, log, pass_fds=(passed.fileno(),), hold_fds=(held.fileno(),))
            with raises_code(StackError, "process_crashed", mentions="Bad file descriptor"):
                run_to_end(spec, 20)
        assert str(tmp_path / "a") in log.read_text()

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root can become somebody else")
    def test_privileges_are_dropped_for_good(self, log: Path) -> None:
        code = "import os; print(os.getresuid(), os.getresgid(), os.getgroups())"
        shell = ("/bin/sh", "-c", "id -u; id -g; id -G; cat /proc/self/status | grep CapEff; touch /etc/x 2>&1")
        spec = python(code, log, identity=Identity(uid=60999, gid=60998), name="id")
        process = spawn(type(spec)(**{**vars(spec), "argv": shell}))
        ended = process.wait(60)
        assert ended is not None
        uid, gid, groups, capabilities, touch = ended.tail
        assert (uid, gid, groups) == ("60999", "60998", "60998")
        assert int(capabilities.split()[1], 16) == 0
        assert "denied" in touch


class TestLog:
    def test_rotates_by_size_and_keeps_the_newest(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.cli.embedded.process_spawn.LOG_BYTES", 100_000)
        run_to_end(python("for n in range(30000): print(f'line {n}', flush=True)", log), 30)
        assert sorted(path.name for path in log.parent.iterdir()) == ["child.log", "child.log.1", "child.log.2"]
        assert all(path.stat().st_size <= 100_000 for path in log.parent.iterdir())
        assert log.read_text().endswith("line 29999\n")

    def test_a_full_disk_ends_no_child(self) -> None:
        full = Path("/dev/full")
        ended = run_to_end(python("print('x' * 100000); print('still here')", full), 20)
        assert ended.tail[-1] == "still here"
