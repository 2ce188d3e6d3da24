import json
from pathlib import Path

import pytest

from scripts import prepare

STARTER = Path(__file__).resolve().parents[3] / "backend" / "starter"
PACKAGE_OF = {
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
    for name, value in (("ROOT", tmp_path), ("STAMPS", tmp_path / ".setup")):
        monkeypatch.setattr(prepare, name, value)
    (tmp_path / ".setup").mkdir()
    (tmp_path / "scripts").mkdir()
    return tmp_path


class Work:
    """A step's work that counts how often it was done."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.times = 0

    def __call__(self) -> list[Path]:
        self.times += 1
        self.path.write_text("made")
        return [self.path]


class TestStep:
    def test_does_the_work_once(self, checkout: Path) -> None:
        work = Work(checkout / "result")
        assert prepare.step("thing", "key", "making it", work)
        assert not prepare.step("thing", "key", "making it", work)
        assert work.times == 1

    def test_does_it_again_for_another_key(self, checkout: Path) -> None:
        work = Work(checkout / "result")
        prepare.step("thing", "key", "making it", work)
        assert prepare.step("thing", "other", "making it", work)

    def test_does_it_again_when_the_result_is_gone(self, checkout: Path) -> None:
        work = Work(checkout / "result")
        prepare.step("thing", "key", "making it", work)
        work.path.unlink()
        assert prepare.step("thing", "key", "making it", work)

    def test_does_it_again_after_a_damaged_stamp(self, checkout: Path) -> None:
        work = Work(checkout / "result")
        prepare.step("thing", "key", "making it", work)
        (checkout / ".setup" / "thing.json").write_text("{half a st")
        assert prepare.step("thing", "key", "making it", work)

    def test_refuses_work_that_made_nothing(self, checkout: Path) -> None:
        with pytest.raises(prepare.PreparationError, match="did not make result"):
            prepare.step("thing", "key", "making it", lambda: [checkout / "result"])


class TestRun:
    def test_shows_the_command_and_its_words_when_it_fails(self, checkout: Path) -> None:
        with pytest.raises(prepare.PreparationError, match=r"exit code 3:\n  sh -c .*\noh no"):
            prepare.run(["sh", "-c", "echo oh no; exit 3"])


class TestWantedPackages:
    def test_reads_names_without_comments_and_twice_named_once(self, checkout: Path) -> None:
        (checkout / "scripts" / "packages-base.txt").write_text("# list\nxvfb\n\ndbus # the bus\n")
        (checkout / "scripts" / "packages-full.txt").write_text("dbus\nchromium\n")
        assert prepare.wanted_packages(["base", "full"]) == ["xvfb", "dbus", "chromium"]


class TestPrepareSystem:
    @pytest.fixture
    def asked(self, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        """A machine on which nothing can be installed; collects what was tried."""
        tried: list[list[str]] = []

        def install(names: list[str]) -> bool:
            tried.append(names)
            return False

        (checkout / "scripts" / "packages-base.txt").write_text("no-such-package\n")
        monkeypatch.setattr(prepare, "missing_packages", lambda names: names)
        monkeypatch.setattr(prepare, "install_system", install)
        return tried

    def test_asks_apt_once_and_then_only_tells(
        self, asked: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(prepare, "administrator", list)
        prepare.prepare_system(["base"])
        prepare.prepare_system(["base"])
        assert asked == [["no-such-package"]]
        assert capsys.readouterr().err.count("sudo apt-get install --no-install-recommends no-such-package") == 2

    def test_without_rights_prints_the_exact_command_and_goes_on(
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


class TestEnvironment:
    def test_an_activated_environment_does_not_redirect_the_installation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
        monkeypatch.setenv("PYTHONPATH", "/elsewhere")
        assert not {"VIRTUAL_ENV", "PYTHONPATH"} & set(prepare.environment())


class TestPackageLists:
    def test_every_program_of_the_starter_benchmark_comes_with_a_listed_package(self) -> None:
        """A fresh machine once had every task of a domain "not runnable here", because only ours had the program."""
        tasks = [json.loads(path.read_text()) for path in (STARTER / "tasks").glob("*/*.json")]
        needed = {program for task in tasks for program in task.get("requires", [])}
        known = set(prepare.wanted_packages(["base", "full"]))
        assert len(tasks) >= 24
        assert {PACKAGE_OF.get(program, program) for program in needed} - known == set()
