"""The session as a whole: start, end, leftovers, hidden files."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from backend.domain.errors import GuestLost
from guest_server.linux.services import KILLED_STATUS, PROBLEM_STATUS
from tests.integration.guest_server.session import ROOT, RunningSession, wait
from tests.processes import select_living

pytestmark = pytest.mark.desktop


def child(session: RunningSession, name: str) -> psutil.Process:
    return select_living(psutil.Process(session.process.pid).children(), lambda process: process.name() == name)[0]


def manager(session: RunningSession) -> str:
    """The name of the window manager, empty if there is none (its window goes with it)."""
    check = session.desktop.execute(["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"]).output.split()
    named = session.desktop.execute(["xprop", "-id", check[-1], "_NET_WM_NAME"]).output
    return named.partition('"')[2].partition('"')[0]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[RunningSession]:
    with RunningSession(tmp_path) as session:
        yield session


class TestStart:
    def test_ready_line_says_what_was_started(self, session: RunningSession) -> None:
        assert session.ready["ready"] is True
        assert session.ready["screen"] == [1280, 800]
        assert session.ready["pid"] == session.process.pid
        assert session.desktop.probe().platform == "Linux"

    def test_the_window_manager_and_the_usual_folders_are_there_at_once(self, session: RunningSession) -> None:
        assert manager(session) == "Openbox"
        assert (session.home / "Desktop").is_dir()

    @pytest.mark.parametrize(
        ("name", "value"),
        [("DESKARENA_SCREEN", "huge"), ("XDG_RUNTIME_DIR", "/nowhere"), ("DESKARENA_LISTEN_FD", "77")],
    )
    def test_a_wrong_environment_is_reported_and_nothing_is_left(self, tmp_path: Path, name: str, value: str) -> None:
        session = RunningSession(tmp_path, variables={name: value})
        code, said = session.end()
        assert code == 1
        assert name in said or "socket" in said
        assert not session.processes()

    def test_a_weak_secret_is_refused(self, tmp_path: Path) -> None:
        code, said = RunningSession(tmp_path, secret="weak").end()
        assert code == 1
        assert "16 or more" in said


class TestEnd:
    def test_a_stopped_session_leaves_no_process(self, started: RunningSession) -> None:
        started.desktop.launch(["sleep", "1000"])
        started.desktop.launch("mousepad")
        wait(started.desktop.windows, "the editor's window")
        assert started.stop()[0] == 0
        wait(lambda: not started.processes(), lambda: str(started.processes()))

    def test_shutdown_route_ends_the_session(self, started: RunningSession) -> None:
        started.post("/shutdown")
        assert started.end()[0] == 0

    @pytest.mark.parametrize("name", ["Xvfb", "dbus-daemon", "openbox", "at-spi-bus-launcher"])
    def test_a_dead_pillar_takes_all_down(self, started: RunningSession, name: str) -> None:
        child(started, name).kill()
        code, said = started.end()
        assert code == KILLED_STATUS
        assert f"{name.removesuffix('-bus-launcher')} ended with -9" in said
        wait(lambda: not started.processes(), lambda: str(started.processes()))
        with pytest.raises(GuestLost):
            started.desktop.probe()

    def test_ended_window_manager_ends_the_session_with_an_error(self, started: RunningSession) -> None:
        child(started, "openbox").terminate()
        code, said = started.end()
        assert code == PROBLEM_STATUS
        assert "openbox ended with 0" in said

    def test_a_killed_server_takes_the_desktop_along(self, started: RunningSession) -> None:
        """Nobody is left to clean up: the kernel's parent-death signal does it."""
        started.process.kill()
        started.process.communicate(timeout=20)
        wait(lambda: not started.processes(), lambda: str(started.processes()))


class TestSecrecy:
    def test_the_secret_is_in_no_child(self, session: RunningSession) -> None:
        seen = session.desktop.execute(
            "env; cat /proc/self/environ /proc/self/cmdline; ls -l /proc/self/fd", shell=True
        )
        assert session.secret not in seen.output
        assert "DESKARENA" not in seen.output
        assert "api.sock" not in seen.output

    def test_code_of_the_same_user_cannot_look_into_the_server(self) -> None:
        if os.geteuid() != 0:
            pytest.skip("needs root: the session is run as another user")
        nobody = 65534
        folder = Path(tempfile.mkdtemp(prefix="guest-", dir="/tmp"))
        try:
            folder.chmod(0o755)
            shutil.copytree(ROOT / "vm_images" / "guest_server", folder / "guest_server")
            with RunningSession(folder, user=nobody, package=folder) as session:
                for name in ("environ", "maps", "mem", "fd/0"):
                    read = session.desktop.execute(["cat", f"/proc/{session.process.pid}/{name}"])
                    assert (read.returncode, "denied" in read.error) == (1, True), (name, read)
                assert session.desktop.execute(["id", "-u"]).output.strip() == str(nobody)
                # The programs of the desktop are ordinary ones again.
                other = session.processes("openbox")[0]
                assert other.uids().real == nobody
                assert session.desktop.execute(["cat", f"/proc/{other.pid}/environ"]).returncode == 0
        finally:
            shutil.rmtree(folder)

    def test_another_display_client_needs_the_cookie(self, session: RunningSession) -> None:
        display = session.ready["display"]
        refused = session.desktop.execute(f"XAUTHORITY=/dev/null xdpyinfo -display {display}", shell=True)
        assert "Authorization required" in refused.error
        assert session.desktop.execute(["xdpyinfo"]).returncode == 0


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_a_signal_during_the_start_ends_it_cleanly(self, tmp_path: Path, number: int) -> None:
        session = RunningSession(tmp_path)
        wait(lambda: session.processes()[1:], "the first program")
        session.process.send_signal(number)
        assert session.end()[0] in {0, 1, -number}
        wait(lambda: not session.processes(), lambda: str(session.processes()))
