from pathlib import Path

import pytest

from tests.error_codes import raises_code
from tools import steps


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty checkout that the script believes to be its own."""
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "STAMPS", tmp_path / ".setup")
    (tmp_path / ".setup").mkdir()
    return tmp_path


class CountedWork:
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
        work = CountedWork(checkout / "result")
        assert steps.step("thing", "key", "making it", work)
        assert not steps.step("thing", "key", "making it", work)
        assert work.times == 1

    def test_does_it_again_for_another_key(self, checkout: Path) -> None:
        work = CountedWork(checkout / "result")
        steps.step("thing", "key", "making it", work)
        assert steps.step("thing", "other", "making it", work)

    def test_does_it_again_when_the_result_is_gone(self, checkout: Path) -> None:
        work = CountedWork(checkout / "result")
        steps.step("thing", "key", "making it", work)
        work.path.unlink()
        assert steps.step("thing", "key", "making it", work)

    def test_does_it_again_after_a_damaged_stamp(self, checkout: Path) -> None:
        work = CountedWork(checkout / "result")
        steps.step("thing", "key", "making it", work)
        (checkout / ".setup" / "thing.json").write_text("{half a st")
        assert steps.step("thing", "key", "making it", work)

    def test_refuses_work_that_made_nothing(self, checkout: Path) -> None:
        with raises_code(steps.PreparationError, "output_missing", mentions="result"):
            steps.step("thing", "key", "making it", lambda: [checkout / "result"])


class TestRun:
    def test_shows_the_command_and_its_words_when_it_fails(self, checkout: Path) -> None:
        with raises_code(steps.PreparationError, "command_failed", mentions=("exit code 3", "\n  sh -c ", "\noh no")):
            steps.run(["sh", "-c", "echo oh no; exit 3"])


class TestEnvironment:
    def test_an_activated_environment_does_not_redirect_the_installation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")
        monkeypatch.setenv("PYTHONPATH", "/elsewhere")
        assert not {"VIRTUAL_ENV", "PYTHONPATH"} & set(steps.environment())
