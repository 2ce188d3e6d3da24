from pathlib import Path

import pytest

from tests.error_codes import raises_code
from tools import wine_prefix


class TestLinkOwnFiles:
    def test_replaces_copies_of_wines_files_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own, drive = tmp_path / "own", tmp_path / "drive_c"
        for folder in (own / "x86_64-windows", drive / "windows"):
            folder.mkdir(parents=True)
        (own / "x86_64-windows" / "notepad.exe").write_bytes(b"program")
        (drive / "windows" / "NotePad.exe").write_bytes(b"program")
        (drive / "windows" / "notepad.ini").write_bytes(b"program")
        (drive / "windows" / "changed.exe").write_bytes(b"program")
        (own / "x86_64-windows" / "changed.exe").write_bytes(b"another")
        monkeypatch.setattr(wine_prefix, "OWN_FOLDERS", (own, tmp_path / "absent"))
        assert wine_prefix.link_own_files(drive) == len(b"program")
        assert (drive / "windows" / "NotePad.exe").readlink() == own / "x86_64-windows" / "notepad.exe"
        assert not (drive / "windows" / "notepad.ini").is_symlink()
        assert not (drive / "windows" / "changed.exe").is_symlink()


class TestOwnFolders:
    def test_no_link_leads_to_the_builders_home(self, tmp_path: Path) -> None:
        profile = tmp_path / "drive_c" / "users" / wine_prefix.USER
        (profile / "AppData").mkdir(parents=True)
        (profile / "Documents").symlink_to(tmp_path)
        (profile / "AppData" / "Templates").symlink_to(tmp_path)
        wine_prefix.own_folders(tmp_path)
        assert [path.name for path in profile.rglob("*")] == ["AppData"]


class TestWine:
    def test_a_command_that_fails_is_reported_with_its_words(self, tmp_path: Path) -> None:
        program = tmp_path / "wine64"
        program.write_text("#!/bin/sh\necho no display >&2; exit 2\n")
        program.chmod(0o755)
        with raises_code(
            wine_prefix.PrefixError, "command_failed", mentions=("wineboot --init", "exit code 2", "no display")
        ):
            wine_prefix.Wine(program, tmp_path / "prefix", tmp_path).run("wineboot", "--init")

    def test_paths_are_named_as_windows_does(self) -> None:
        assert wine_prefix.Wine.path(Path("/a b/c.reg")) == "Z:\\a b\\c.reg"


class TestMain:
    def test_failed_build_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(wine_prefix, "LOADERS", ())
        monkeypatch.setattr("sys.argv", ["wine_prefix.py", str(tmp_path / "home"), str(tmp_path)])
        assert wine_prefix.main() == 1
        assert list(tmp_path.iterdir()) == []
        assert "Wine is not installed" in capsys.readouterr().err
