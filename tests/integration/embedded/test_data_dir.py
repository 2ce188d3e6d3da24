"""Who may use a data folder, and who has to wait."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.cli.embedded.data_dir import DataFolder, is_in_use, make_writable
from backend.cli.embedded.process_spawn import spawn
from backend.cli.errors import ExitCode, StackError
from tests.error_codes import raises_code
from tests.integration.embedded.helpers import gone, python, until

HOLD = (
    "import signal, sys\n"
    "from pathlib import Path\n"
    "from backend.cli.embedded.data_dir import DataFolder\n"
    "from backend.cli.embedded.process_spawn import spawn\n"
    "from tests.integration.embedded.helpers import python\n"
    "with DataFolder(Path(sys.argv[1])) as folder:\n"
    "    folder.announce('http://127.0.0.1:1234')\n"
    "    code = 'import signal, time; signal.signal(15, lambda *_: time.sleep(0.5) or exit()); signal.pause()'\n"
    "    child = spawn(python(code, folder.path / 'log', hold_fds=(folder.children_fd,)))\n"
    "    print(child.pid, flush=True)\n"
    "    signal.pause()\n"
)


class TestDataFolder:
    def test_second_process_on_the_folder_is_refused_naming_process_and_address(self, tmp_path: Path) -> None:
        with DataFolder(tmp_path) as first:
            first.announce("http://127.0.0.1:8000")
            with pytest.raises(StackError) as caught:
                DataFolder(tmp_path).__enter__()
        message = str(caught.value)
        assert f"{tmp_path} is already in use by process {os.getpid()} at http://127.0.0.1:8000." in message
        assert "--data" in message
        assert caught.value.exit_code is ExitCode.INFRASTRUCTURE

    def test_lock_is_released(self, tmp_path: Path) -> None:
        for _ in range(2):
            with DataFolder(tmp_path):
                assert is_in_use(tmp_path)
            assert not is_in_use(tmp_path)

    def test_next_process_waits_for_the_last_child_of_a_killed_one(self, tmp_path: Path) -> None:
        command = [sys.executable, "-W", "error", "-c", HOLD, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            child = int(holder.stdout.readline())
            assert not gone(child)
            holder.kill()
        with DataFolder(tmp_path):
            assert gone(child)

    def test_children_that_never_end_are_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.cli.embedded.data_dir.PREVIOUS_SECONDS", 0.1)
        with DataFolder(tmp_path) as first:
            child = spawn(python("import signal; signal.pause()", tmp_path / "log", hold_fds=(first.children_fd,)))
        try:
            with raises_code(StackError, "data_folder_in_use"):
                DataFolder(tmp_path).__enter__()
        finally:
            child.stop()
        until(lambda: not is_in_use(tmp_path), "the folder is free")


class TestMakeWritable:
    def test_makes_a_private_folder(self, tmp_path: Path) -> None:
        make_writable(tmp_path / "a" / "b")
        assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700

    def test_a_file_in_the_way_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with raises_code(StackError, "data_folder_not_writable"):
            make_writable(tmp_path / "file")

    def test_unwritable_folder_is_reported(self) -> None:
        with raises_code(StackError, "data_folder_not_writable", mentions=("--data", "DESKARENA_DATA_DIR")):
            make_writable(Path("/proc/deskarena"))
