import os
import shutil
import stat
from pathlib import Path

import pytest

from backend.cli.embedded import runtime_dir
from backend.cli.embedded.process_spawn import Identity
from backend.cli.embedded.runtime_dir import Install, runnable, runtime_folder, runtime_name
from backend.cli.errors import StackError
from tests.error_codes import raises_code

PROGRAM = "package/bin/program"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A site-packages with one program and one library in it."""
    program = tmp_path / "site" / PROGRAM
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho program 1.2\n")
    program.chmod(0o700)
    (tmp_path / "site" / "package" / "lib").mkdir()
    (tmp_path / "site" / "package" / "lib" / "data").write_text("x")
    return tmp_path / "site"


class TestRuntimeFolder:
    def test_a_deep_folder_has_a_short_place(self, tmp_path: Path) -> None:
        deep = tmp_path / ("x" * 200)
        assert len(f"/var/lib/{runtime_name(deep)}/postgres-socket/.s.PGSQL.5432") < 107

    def test_other_folders_have_other_places(self, tmp_path: Path) -> None:
        assert runtime_name(tmp_path / "a") != runtime_name(tmp_path / "b")

    def test_a_link_to_the_folder_has_the_same_place(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path)
        assert runtime_name(tmp_path / "link") == runtime_name(tmp_path)

    def test_folder_is_writable_by_its_owner_only(self, tmp_path: Path) -> None:
        folder = runtime_folder(tmp_path / "data", tmp_path)
        assert folder is not None
        assert folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) == 0

    def test_a_link_that_somebody_laid_there_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "trap").mkdir()
        (tmp_path / runtime_name(tmp_path / "data")).symlink_to(tmp_path / "trap")
        assert runtime_folder(tmp_path / "data", tmp_path) is None

    def test_a_place_that_cannot_be_written_is_passed_over(self, tmp_path: Path) -> None:
        assert runtime_folder(tmp_path / "data", Path("/proc")) is None


class TestRunnable:
    def test_the_wheel_itself_where_it_can_be_run(self, wheel: Path, tmp_path: Path) -> None:
        found = runnable(wheel, (PROGRAM,), None, tmp_path)
        assert found == Install(root=wheel, identity=None, version="program 1.2")

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root drops privileges")
    def test_a_copy_where_the_wheel_is_private(self, wheel: Path, tmp_path: Path) -> None:
        found = runnable(wheel, (PROGRAM, "package/lib"), Identity(uid=60998, gid=60998), tmp_path)
        try:
            assert found.copies == (found.root,)
            assert found.version == "program 1.2"
            assert (found.root / "package" / "lib" / "data").read_text() == "x"
        finally:
            shutil.rmtree(found.root.parent)

    def test_a_program_that_runs_nowhere_is_reported(
        self, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runtime_dir, "runtime_bases", lambda: (tmp_path,))
        (wheel / PROGRAM).write_text("#!/bin/sh\nexit 1\n")
        with raises_code(StackError, "server_not_executable"):
            runnable(wheel, (PROGRAM,), None, tmp_path / "data")
