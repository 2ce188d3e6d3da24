from pathlib import Path

import pytest

from worker.local.trials import once, version_of


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes of this test alone."""
    monkeypatch.setattr("worker.local.trials.private_folder", lambda _: tmp_path)


class CountedTrial:
    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def __call__(self) -> str:
        return self.answers.pop(0)


class TestOnce:
    def test_a_success_is_not_repeated(self) -> None:
        trial = CountedTrial("")
        assert [once("wine", ("8.0",), trial) for _ in range(2)] == ["", ""]

    def test_a_failure_is_repeated(self) -> None:
        trial = CountedTrial("busy", "")
        assert [once("wine", ("8.0",), trial) for _ in range(3)] == ["busy", "", ""]

    def test_changed_version_is_tried_again(self) -> None:
        trial = CountedTrial("", "it broke")
        assert [once("wine", (version,), trial) for version in ("8.0", "9.0")] == ["", "it broke"]

    def test_unwritable_folder_always_tries(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def nobody_may(_: str) -> Path:
            raise PermissionError

        monkeypatch.setattr("worker.local.trials.private_folder", nobody_may)
        trial = CountedTrial("", "")
        assert [once("wine", (), trial) for _ in range(2)] == ["", ""]
        assert trial.answers == []


class TestVersionOf:
    def test_follows_the_file(self, tmp_path: Path) -> None:
        file = tmp_path / "system.reg"
        file.write_text("one")
        before = version_of(file)
        file.write_text("three")
        assert version_of(file) != before
        assert version_of(tmp_path / "absent") == ()
