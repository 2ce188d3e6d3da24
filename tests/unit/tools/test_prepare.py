import json
import shutil
from argparse import Namespace
from pathlib import Path

import pytest

from tests.error_codes import raises_code
from tools import docs_site, prepare, steps

STARTER = Path(__file__).resolve().parents[3] / "backend" / "starter"
PACKAGE_OF = {
    **dict.fromkeys(("cmd", "control", "explorer", "notepad", "regedit", "wordpad"), "wine"),
    "gsettings": "libglib2.0-bin",
    "localc": "libreoffice-calc",
    "loimpress": "libreoffice-impress",
    "lowriter": "libreoffice-writer",
    "xfce4-appearance-settings": "xfce4-settings",
    "xfce4-keyboard-settings": "xfce4-settings",
    "xfce4-mouse-settings": "xfce4-settings",
    "xfconf-query": "xfconf",
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout that the script believes to be its own."""
    for module in (prepare, steps):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "STAMPS", tmp_path / ".setup")
    monkeypatch.setattr(prepare, "WINE", tmp_path / ".wine")
    (tmp_path / ".setup").mkdir()
    (tmp_path / "tools").mkdir()
    return tmp_path


class TestPreparePython:
    def test_a_linked_environment_is_refused_and_its_target_stays(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = checkout / "elsewhere" / ".venv"
        target.mkdir(parents=True)
        (target / "pyvenv.cfg").touch()
        monkeypatch.setattr(prepare, "VENV", checkout / ".venv")
        prepare.VENV.symlink_to(target)
        with raises_code(steps.PreparationError, "venv_is_link"):
            prepare.prepare_python()
        assert list(target.iterdir()) == [target / "pyvenv.cfg"]


class TestWantedPackages:
    def test_reads_names_without_comments_and_twice_named_once(self, checkout: Path) -> None:
        (checkout / "tools" / "packages-base.txt").write_text("# list\nxvfb\n\ndbus # the bus\n")
        (checkout / "tools" / "packages-full.txt").write_text("dbus\nchromium\n")
        assert prepare.read_package_lists(["base", "full"]) == ["xvfb", "dbus", "chromium"]


class TestPrepareSystem:
    @pytest.fixture
    def asked(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        """A machine on which nothing can be installed; collects what was tried."""
        tried: list[list[str]] = []

        def install(names: list[str]) -> bool:
            tried.append(names)
            return False

        (checkout / "tools" / "packages-base.txt").write_text("no-such-package\n")
        monkeypatch.setattr(prepare, "missing_packages", lambda names: names)
        monkeypatch.setattr(prepare, "install_system", install)
        return tried

    def test_missing_packages_are_installed_once(
        self, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(prepare, "administrator", list)
        prepare.prepare_system(["base"])
        prepare.prepare_system(["base"])
        assert asked == [["no-such-package"]]
        assert capsys.readouterr().err.count("sudo apt-get install --no-install-recommends no-such-package") == 2

    def test_without_rights_prints_the_command_and_continues(
        self, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(prepare, "administrator", lambda: None)
        prepare.prepare_system(["base"])
        assert asked == []
        assert "sudo apt-get install --no-install-recommends no-such-package" in capsys.readouterr().err

    def test_tries_what_was_not_tried_before(
        self, checkout: Path, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(prepare, "administrator", list)
        (checkout / ".setup" / "refused.json").write_text(json.dumps(["older"]))
        prepare.prepare_system(["base"])
        assert asked == [["no-such-package"]]


class TestPrepareLocale:
    @pytest.fixture
    def machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A machine whose `localedef` adds to what `locale -a` prints."""
        for name, script in {
            "locale": f"cat {tmp_path}/made",
            "localedef": f"echo en_US.utf8 >> {tmp_path}/made",
        }.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        (tmp_path / "made").write_text("C\nC.utf8\n")
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        monkeypatch.setattr(prepare, "administrator", list)
        return tmp_path

    @pytest.mark.usefixtures("machine")
    def test_is_generated_once(self) -> None:
        assert [prepare.prepare_locale(), prepare.prepare_locale()] == [True, False]

    def test_without_rights_prints_the_locale_command_and_continues(
        self, machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(prepare, "administrator", lambda: None)
        assert not prepare.prepare_locale()
        assert "sudo localedef --no-archive -i en_US -f UTF-8 en_US.UTF-8" in capsys.readouterr().err
        assert "en_US" not in (machine / "made").read_text()

    def test_a_definition_that_fails_ends_nothing(self, machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (machine / "localedef").write_text("#!/bin/sh\nexit 4\n")
        assert not prepare.prepare_locale()
        assert "C.UTF-8" in capsys.readouterr().err


class TestLists:
    def test_wine_comes_with_every_kind_of_setup(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[list[str]] = []

        def installed(lists: list[str]) -> bool:
            asked.append(lists)
            return True

        monkeypatch.setattr(prepare, "prepare_system", installed)
        for name in (
            *("prepare_python", "prepare_docs", "prepare_wine", "prepare_node"),
            *("prepare_locale", "warn_about_namespaces"),
        ):
            monkeypatch.setattr(prepare, name, lambda: False)
        for apps in prepare.APPS:
            prepare.prepare(Namespace(apps=apps, tests=False, lint=False, chaos=False))
        prepare.prepare(Namespace(apps="base", tests=True, lint=False, chaos=False))
        assert len(asked) == 4
        assert all(lists[:2] == ["base", "wine"] for lists in asked)


class Apt:
    """A machine whose apt has some packages, and installs nothing of a request that names another one."""

    def __init__(self, *has: str) -> None:
        self.has, self.installed = set(has), set[str]()

    def __call__(self, _prefix: list[str], *arguments: str) -> bool:
        names = [name for name in arguments[1:] if not name.startswith("-")]
        if arguments[0] != "install" or not set(names) <= self.has:
            return arguments[0] == "update"
        self.installed.update(names)
        return True

    def missing(self, names: list[str]) -> list[str]:
        return [name for name in names if name not in self.installed]


class TestInstallSystem:
    def test_a_machine_whose_apt_has_no_wine_gets_everything_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        base, wine = prepare.read_package_lists(["base"]), prepare.read_package_lists(["wine"])
        apt = Apt(*base)
        monkeypatch.setattr(prepare, "apt_get", apt)
        monkeypatch.setattr(prepare, "administrator", list)
        monkeypatch.setattr(prepare, "missing_packages", apt.missing)
        monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
        assert not prepare.install_system([*base, *wine])
        assert apt.installed == set(base)
        assert not set(base) & set(wine)


@pytest.fixture
def wine_checkout(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout, and a machine with a Wine that says its version."""
    for name in ("requirements/guest-windows.txt", "tools/wine_prefix.py", "vm_images/wine/settings.reg"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(name)
    (checkout / "wine").write_text("#!/bin/sh\necho wine-8.0\n")
    (checkout / "wine").chmod(0o755)
    monkeypatch.setenv("PATH", f"{checkout}:/usr/bin:/bin")
    return checkout


def made(path: Path) -> list[Path]:
    """Makes a file that a step was to make."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return [path]


def broken() -> list[Path]:
    """A step that fails."""
    raise steps.PreparationError("wineboot --init failed", code="command_failed")


class TestPrepareWine:
    def test_does_nothing_without_wine(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(checkout))
        assert not prepare.prepare_wine()
        assert not (checkout / ".wine").exists()

    def test_lays_out_once(self, wine_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(prepare, "install_windows_python", lambda: made(wine_checkout / ".wine/python/python.exe"))
        monkeypatch.setattr(prepare, "make_wine_prefix", lambda: made(wine_checkout / ".wine/home/.wine/system.reg"))
        assert prepare.prepare_wine()
        monkeypatch.setattr(prepare, "make_wine_prefix", broken)
        assert not prepare.prepare_wine()
        assert not (wine_checkout / ".wine" / prepare.WHY_NOT).exists()

    def test_a_new_wine_makes_a_new_prefix(self, wine_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(prepare, "install_windows_python", lambda: made(wine_checkout / ".wine/python/python.exe"))
        monkeypatch.setattr(prepare, "make_wine_prefix", lambda: made(wine_checkout / ".wine/home/.wine/system.reg"))
        prepare.prepare_wine()
        (wine_checkout / "wine").write_text("#!/bin/sh\necho wine-9.0\n")
        assert prepare.prepare_wine()

    def test_a_failure_is_told_kept_and_tried_again(
        self, wine_checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Only Wine desktops need Wine: `make run` continues without it."""
        why_not = wine_checkout / ".wine" / prepare.WHY_NOT
        monkeypatch.setattr(prepare, "install_windows_python", broken)
        assert prepare.prepare_wine()
        assert "desktops with Windows programs cannot be had: wineboot --init failed" in capsys.readouterr().err
        assert "wineboot --init failed" in why_not.read_text()
        monkeypatch.setattr(prepare, "install_windows_python", lambda: made(wine_checkout / ".wine/python/python.exe"))
        monkeypatch.setattr(prepare, "make_wine_prefix", lambda: made(wine_checkout / ".wine/home/.wine/system.reg"))
        assert prepare.prepare_wine()
        assert not why_not.exists()

    def test_a_wine_that_does_not_start_is_such_a_failure(self, wine_checkout: Path) -> None:
        (wine_checkout / "wine").write_bytes(b"\x7fELF of another machine")
        assert prepare.prepare_wine()
        assert (wine_checkout / ".wine" / prepare.WHY_NOT).read_text()


class TestPackageLists:
    def test_every_program_of_the_starter_benchmark_comes_with_a_listed_package(self) -> None:
        """Found on a fresh machine: a whole domain was "not runnable here" for want of a program."""
        tasks = [json.loads(path.read_text()) for path in (STARTER / "tasks").glob("*/*.json")]
        needed = {program for task in tasks for program in task.get("requires", [])}
        known = set(prepare.read_package_lists([*prepare.ALWAYS, "full"]))
        assert len(tasks) >= 24
        assert {PACKAGE_OF.get(program, program) for program in needed} - known == set()


class TestPrepareDocs:
    def test_a_page_that_cannot_be_built_stops_nothing_else(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (checkout / "requirements").mkdir()
        (checkout / "requirements/docs.txt").write_text("")
        monkeypatch.setattr(docs_site, "sources", list)
        monkeypatch.setattr(prepare, "build_docs", lambda: steps.run(["false"]))
        assert prepare.prepare_docs()
        assert "/docs/ is out of date" in capsys.readouterr().err
        assert not (checkout / ".setup" / "docs.json").exists()
