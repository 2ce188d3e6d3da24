"""The supervisor with real children."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backend.cli.embedded import supervisor as module
from backend.cli.embedded.process_spawn import GuardedProcess, spawn
from backend.cli.embedded.supervisor import ChildService, ServiceSupervisor
from backend.cli.errors import StackError
from tests.integration.embedded.helpers import gone, python, until

PAUSE = "import signal; signal.pause()"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_DELAY", 0.05)


def child(log: Path, code: str = PAUSE, name: str = "thing") -> Callable[[], GuardedProcess]:
    return lambda: spawn(python(code, log, name=name))


@contextmanager
def watched(supervisor: ServiceSupervisor) -> Iterator[None]:
    """Looks after the services in a thread."""
    read_end, write_end = os.pipe()
    thread = threading.Thread(target=supervisor.watch, args=(read_end,))
    thread.start()
    try:
        yield
    finally:
        os.close(write_end)
        thread.join()
        os.close(read_end)
        supervisor.stop()


class TestWatch:
    def test_a_killed_child_is_started_again_and_reported(self, tmp_path: Path) -> None:
        said: list[str] = []
        supervisor = ServiceSupervisor(said.append)
        service = ChildService(name="thing", start=child(tmp_path / "log"))
        supervisor.add(service)
        assert service.process is not None
        first = service.process.pid
        with watched(supervisor):
            os.kill(first, signal.SIGKILL)
            until(lambda: len(said) == 2, "it was said")
            assert service.process.pid != first
        assert "thing ended: killed by SIGKILL" in said[0]
        assert "Restarting in 0.05 s." in said[0]
        assert said[1] == "thing was restarted."

    def test_crashing_service_restarts_with_backoff(self, tmp_path: Path) -> None:
        said: list[str] = []
        supervisor = ServiceSupervisor(said.append)
        supervisor.add(
            ChildService(name="thing", start=child(tmp_path / "log", "print('out of luck'); raise SystemExit(3)"))
        )
        with watched(supervisor):
            until(lambda: len(said) >= 7, "it crashed four times")
        crashes = [line for line in said if "ended: exit code 3" in line][:4]
        assert [line.rpartition(" in ")[2] for line in crashes] == ["0.05 s.", "0.1 s.", "0.2 s.", "0.4 s."]
        assert all("    out of luck" in line for line in crashes)

    def test_a_start_that_fails_is_tried_again(self, tmp_path: Path) -> None:
        said: list[str] = []
        supervisor = ServiceSupervisor(said.append)
        starts = iter([child(tmp_path / "log"), None, child(tmp_path / "log")])

        def start() -> GuardedProcess:
            found = next(starts)
            if found is None:
                raise StackError("No room.", code="no_room")
            return found()

        service = ChildService(name="thing", start=start)
        supervisor.add(service)
        assert service.process is not None
        with watched(supervisor):
            os.kill(service.process.pid, signal.SIGKILL)
            until(lambda: len(said) == 3, "it runs again")
        assert said[1] == "No room.\n    Trying thing again in 0.1 s."


class TestStop:
    def test_users_end_before_servers(self, tmp_path: Path) -> None:
        # The upper one looks, at its end, whether the lower one is still there.
        supervisor = ServiceSupervisor(lambda _: None)
        lower = ChildService(name="lower", start=child(tmp_path / "lower.log"), stage=0)
        supervisor.add(lower)
        assert lower.process is not None
        code = (
            "import os, signal, sys\n"
            "def last_look(*_):\n"
            f"    os.kill({lower.process.pid}, 0)\n"
            "    sys.exit('it was there')\n"
            "signal.signal(signal.SIGTERM, last_look)\n"
            "print('ready', flush=True)\n"
            "signal.pause()"
        )
        upper = ChildService(name="upper", start=child(tmp_path / "upper.log", code), stage=1)
        supervisor.add(upper)
        until(lambda: "ready" in (tmp_path / "upper.log").read_text(), "it is ready")
        supervisor.stop()
        assert "it was there" in (tmp_path / "upper.log").read_text()
        assert gone(lower.process.pid)

    def test_hurried_stop_does_not_wait(self, tmp_path: Path) -> None:
        supervisor = ServiceSupervisor(lambda _: None)
        code = (
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
        )
        service = ChildService(name="thing", start=child(tmp_path / "log", code))
        supervisor.add(service)
        until(lambda: "ready" in (tmp_path / "log").read_text(), "it is ready")
        assert service.process is not None
        pid = service.process.pid
        supervisor.stop(in_a_hurry=lambda: True)
        assert gone(pid)

    def test_may_be_called_twice(self, tmp_path: Path) -> None:
        supervisor = ServiceSupervisor(lambda _: None)
        supervisor.add(ChildService(name="thing", start=child(tmp_path / "log")))
        supervisor.stop()
        supervisor.stop()
