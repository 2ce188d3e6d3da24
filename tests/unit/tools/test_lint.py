import sys
from pathlib import Path

import pytest

from tools import lint


class TestTimed:
    def test_a_linter_that_is_not_there_has_failed(self) -> None:
        def absent() -> tuple[bool, str]:
            return lint.call(Path("/nowhere/linter"))

        result = lint.timed(absent)
        assert not result.passed
        assert "could not be run" in result.output


class TestCall:
    def test_gives_the_words_of_both_streams(self) -> None:
        assert lint.call("sh", "-c", "echo out; echo err >&2; exit 1") == (False, "out\nerr\n")


class TestMain:
    def test_fails_and_prints_the_words_of_the_failed_only(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def content() -> tuple[bool, str]:
            return True, "quiet"

        def angry() -> tuple[bool, str]:
            return False, "line 3 is wrong"

        monkeypatch.setattr(lint, "CHECKS", (content, angry))
        monkeypatch.setattr(sys, "argv", ["lint"])
        assert lint.main() == 1
        printed = capsys.readouterr().out
        assert "line 3 is wrong" in printed
        assert "quiet" not in printed
