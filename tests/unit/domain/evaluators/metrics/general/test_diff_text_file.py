from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.diff_text_file import MAX_LINES, diff_text_file


class TestDiffTextFile:
    @pytest.fixture
    def wanted(self, tmp_path: Path) -> str:
        (tmp_path / "wanted").write_text("a\nb\nc\nd\n")
        return str(tmp_path / "wanted")

    def test_half_of_the_lines_score_half(self, tmp_path: Path, wanted: str) -> None:
        (tmp_path / "found").write_text("a\nb\nx\ny\n")
        assert diff_text_file(str(tmp_path / "found"), wanted).value == pytest.approx(0.5)

    def test_equal_files_score_1(self, wanted: str) -> None:
        assert diff_text_file(wanted, wanted).value == 1.0

    def test_form_feeds_end_no_line(self, tmp_path: Path) -> None:
        for name, text in (("cut", "a\nb"), ("whole", "a\x0cb"), ("empty", ""), ("blank", "\n")):
            (tmp_path / name).write_text(text)
        cut, whole, empty, blank = (str(tmp_path / name) for name in ("cut", "whole", "empty", "blank"))
        pairs = [(whole, cut), (whole, whole), (empty, blank), (empty, empty)]
        assert [diff_text_file(*pair).value for pair in pairs] == [0.0, 1.0, 0.0, 1.0]

    def test_missing_file_scores_0(self, wanted: str) -> None:
        assert diff_text_file(None, wanted).value == 0.0

    def test_files_with_too_many_lines_are_not_compared(self, tmp_path: Path, wanted: str) -> None:
        (tmp_path / "found").write_text("a\n" * (MAX_LINES + 10))
        assert "lines" in diff_text_file(str(tmp_path / "found"), wanted).reasons[0]

    def test_missing_expectation_gives_no_verdict(self, wanted: str) -> None:
        with pytest.raises(EvaluatorFailed):
            diff_text_file(wanted, None)
