from pathlib import Path

import pytest

from guest_server.linux import wine_session
from tools import prepare, wine_prefix
from worker.local import wine
from worker.local.images import SYSTEMS, offers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The layout of `make setup`, with a Wine that only says its version."""
    program = tmp_path / "wine64"
    program.write_text("#!/bin/sh\necho 'wine-8.0 (Debian)'\n")
    program.chmod(0o755)
    monkeypatch.setattr(wine, "LOADERS", (tmp_path / "absent", program))
    drive = tmp_path / "laid" / "home" / ".wine" / "drive_c"
    for name in ("windows/system32/cmd.exe", "windows/Notepad.exe", "windows/win.ini"):
        (drive / name).parent.mkdir(parents=True, exist_ok=True)
        (drive / name).touch()
    accessories = drive / "Program Files" / "Windows NT" / "Accessories"
    accessories.mkdir(parents=True)
    (accessories / "wordpad.exe").touch()
    (drive.parent / "system.reg").touch()
    (tmp_path / "laid" / "python").mkdir()
    (tmp_path / "laid" / "python" / "python.exe").touch()
    return tmp_path / "laid"


class TestWhyNot:
    def test_ready_wine_has_no_problem(self, folder: Path) -> None:
        assert wine.why_not(folder) == ""

    def test_says_how_to_install_wine(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wine, "LOADERS", ())
        assert "Wine is not installed. Run `make setup`" in wine.why_not(folder)
        assert wine.version() == ""

    @pytest.mark.parametrize("name", ["python/python.exe", "home/.wine/system.reg"])
    def test_reason_names_missing_files(self, folder: Path, name: str) -> None:
        (folder / name).unlink()
        assert f"{name} is missing" in wine.why_not(folder)
        with pytest.raises(FileNotFoundError, match="Run `make setup`"):
            wine.flavour(folder, Path("/guest"))

    def test_reason_includes_the_error_of_setup(self, folder: Path) -> None:
        (folder / wine.WHY_NOT).write_text("this command failed:\n  wineboot --init\n" + 9000 * "x")
        told = wine.why_not(folder)
        assert "could not be prepared: this command failed: wineboot --init" in told
        assert len(told) < 1000


class TestFlavour:
    def test_runs_the_windows_part_on_the_prefix(self, folder: Path) -> None:
        made = wine.flavour(folder, Path("/guest"))
        assert (made.name, made.home) == ("windows", folder / "home")
        drive = "/home/user/.wine/drive_c"
        assert made.binds == {f"{drive}/Python": folder / "python", f"{drive}/Deskarena": Path("/guest")}
        assert made.command[-1] == "guest_server.linux.wine_session"
        assert made.environment["WINEPREFIX"] == "/home/user/.wine"
        assert ".wine/drive_c/users/Docker/Documents" in made.folders

    def test_its_key_follows_the_prefix(self, folder: Path) -> None:
        before = wine.flavour(folder, Path("/guest")).key
        (folder / "home" / ".wine" / "system.reg").write_text("changed")
        assert wine.flavour(folder, Path("/guest")).key != before


class TestPrograms:
    def test_programs_are_named_as_commands(self, folder: Path) -> None:
        assert wine.programs(folder) == ("cmd", "notepad", "python", "wordpad")


def works() -> str:
    return ""


class TestOffers:
    def test_each_image_is_taken_for_its_system(self, folder: Path) -> None:
        linux, windows = offers(folder, works)
        assert {offer.name: offer.os for offer in (linux, windows)} == {
            name: system for name, system in SYSTEMS.items() if name != "default"
        }
        assert (windows.default, windows.prepared, windows.reason) == (True, True, "")
        assert windows.about == "Windows programs with Wine 8.0"
        assert "notepad" in windows.programs
        assert "notepad" not in linux.programs

    def test_incomplete_wine_has_a_reason(self, folder: Path) -> None:
        (folder / "python" / "python.exe").unlink()
        windows = offers(folder, works)[1]
        assert "make setup" in windows.reason
        assert (windows.default, windows.programs) == (False, ())

    def test_complete_wine_without_a_desktop_has_a_reason(self, folder: Path) -> None:
        windows = offers(folder, lambda: "no desktop with it can be created")[1]
        assert (windows.reason, windows.default, windows.programs) == ("no desktop with it can be created", False, ())


class TestTheTemplatesMaker:
    """Constants that exist twice: scripts run before the installation, and the backend does not import workers."""

    def test_template_builder_and_user_agree_on_constants(self) -> None:
        assert wine_prefix.USER == wine.USER
        assert wine_prefix.LOADERS == wine.LOADERS
        assert prepare.WHY_NOT == wine.WHY_NOT
        assert wine_session.PYTHON.removesuffix("\\python.exe") == wine_prefix.PYTHON
