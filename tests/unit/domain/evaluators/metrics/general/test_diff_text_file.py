from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.diff_text_file import MAX_LINES, diff_text_file


class TestDiffTextFile:
    @pytest.fixture
    def wanted(self, tmp_path: Path) -> str:
        (tmp_path / "wanted").write_text("a\nb\nc\nd\n")
        return str(tmp_path / "wanted")

    def test_half_of_the_lines(self, tmp_path: Path, wanted: str) -> None:
        (tmp_path / "found").write_text("a\nb\nx\ny\n")
        assert diff_text_file(str(tmp_path / "found"), wanted).value == pytest.approx(0.5)

    def test_the_same_file(self, wanted: str) -> None:
        assert diff_text_file(wanted, wanted).value == 1.0

    def test_an_absent_file(self, wanted: str) -> None:
        assert diff_text_file(None, wanted).value == 0.0

    def test_far_too_many_lines_are_not_compared(self, tmp_path: Path, wanted: str) -> None:
        (tmp_path / "found").write_text("a\n" * (MAX_LINES + 10))
        assert "lines" in diff_text_file(str(tmp_path / "found"), wanted).reasons[0]

    def test_missing_expectation_gives_no_verdict(self, wanted: str) -> None:
        with pytest.raises(EvaluatorFailed):
            diff_text_file(wanted, None)
