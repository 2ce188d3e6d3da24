import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import until
from worker.desktop_supervisor.folders import DesktopSupervisorDir, base_folder, processes_of, sweep, title


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr("worker.local.folders.LONGEST", 1000)
    return base_folder()


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that looks like one of desktop supervisor k1's."""
    process = subprocess.Popen([title("k1", "d1"), "600"], executable="/usr/bin/sleep")
    # The kernel says that the program runs a moment before it shows its arguments.
    until(Path(f"/proc/{process.pid}/cmdline").read_bytes, what="the process shows its name")
    yield process
    process.kill()
    process.wait()


class TestBaseFolder:
    def test_is_private(self, base: Path) -> None:
        assert base.stat().st_mode & 0o777 == 0o700

    def test_refuses_one_that_others_may_enter(self, base: Path) -> None:
        base.chmod(0o755)
        with pytest.raises(PermissionError, match="not a private folder"):
            base_folder()

    def test_a_long_temporary_directory_is_not_used(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.gettempdir", lambda: "/tmp/" + "x" * 80)
        folder = base_folder()
        assert len(str(folder / "supervisor-12345678" / "d123456" / "api")) < 100

    def test_refuses_a_link(self, tmp_path: Path, base: Path) -> None:
        base.rmdir()
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        base.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(PermissionError):
            base_folder()


class TestSupervisorFolder:
    def test_goes_with_the_last_supervisor(self, base: Path) -> None:
        one, two = DesktopSupervisorDir(), DesktopSupervisorDir()
        one.remove()
        assert base.exists()
        two.remove()
        assert not base.exists()


class TestProcessesOf:
    def test_finds_them_by_title(self, stranger: "subprocess.Popen[bytes]") -> None:
        assert processes_of("k1") == [stranger.pid]
        assert processes_of("k1", "d1") == [stranger.pid]
        assert processes_of("k1", "d2") == []
        assert processes_of("k2") == []


class TestSweep:
    def test_leaves_the_living_alone(self, base: Path) -> None:
        living = DesktopSupervisorDir()
        assert sweep(base) == 0
        assert living.path.is_dir()
        living.remove()

    def test_removes_processes_groups_and_files_of_the_dead(
        self, base: Path, tmp_path: Path, stranger: "subprocess.Popen[bytes]"
    ) -> None:
        dead, group = base / "supervisor-k1", tmp_path / "deskarena-k1"
        (dead / "d1").mkdir(parents=True)
        (dead / "d1" / "api").write_text("")
        (group / "d1").mkdir(parents=True)
        (dead / "groups").write_text(str(group))
        assert sweep(base) == 1
        assert not dead.exists()
        assert not group.exists()
        assert stranger.wait(60) == -9

    def test_does_not_end_what_is_not_a_supervisors(self, base: Path) -> None:
        (base / "supervisor-k9").mkdir()
        sweep(base)
        os.kill(os.getpid(), 0)
        assert list(base.iterdir()) == []
