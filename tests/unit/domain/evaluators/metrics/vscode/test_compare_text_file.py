from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vscode.compare_text_file import compare_text_file, compare_text_file_starter
from backend.domain.formats.text import MAX_BYTES


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


class TestCompareTextFile:
    @pytest.fixture
    def wanted(self, tmp_path: Path) -> str:
        return write(tmp_path / "wanted", b"one\ntwo\n")

    def test_equal_texts_score_1(self, tmp_path: Path, wanted: str) -> None:
        assert compare_text_file(write(tmp_path / "found", b"one\ntwo\n"), wanted).value == 1.0

    def test_the_kind_of_newline_does_not_matter(self, tmp_path: Path, wanted: str) -> None:
        assert compare_text_file(write(tmp_path / "found", b"one\r\ntwo\r\n"), wanted).value == 1.0

    def test_the_last_newline_matters_but_for_our_own_tasks(self, tmp_path: Path, wanted: str) -> None:
        result = write(tmp_path / "found", b"one\r\ntwo")
        assert compare_text_file(result, wanted).value == 0.0
        assert compare_text_file_starter(result, wanted).value == 1.0

    def test_the_first_different_line_is_named(self, tmp_path: Path, wanted: str) -> None:
        result = compare_text_file(write(tmp_path / "found", b"one\nTwo\n"), wanted)
        assert result.value == 0.0
        assert result.reasons == ("line 2 is 'Two', expected 'two'",)

    def test_case_and_blanks_can_be_ignored(self, tmp_path: Path, wanted: str) -> None:
        path = write(tmp_path / "found", b"ONE   two")
        assert compare_text_file(path, wanted, ignore_blanks=True, ignore_case=True).value == 1.0

    def test_an_absent_file_is_a_verdict(self, wanted: str) -> None:
        result = compare_text_file(None, wanted)
        assert (result.value, result.reasons) == (0.0, ("the file does not exist",))

    def test_an_empty_file_is_a_verdict(self, tmp_path: Path, wanted: str) -> None:
        assert compare_text_file(write(tmp_path / "found", b""), wanted).value == 0.0

    def test_binary_file_scores_zero(self, tmp_path: Path, wanted: str) -> None:
        assert compare_text_file(write(tmp_path / "found", bytes(range(256)) * 10), wanted).value == 0.0

    def test_a_huge_file_is_a_verdict(self, tmp_path: Path, wanted: str) -> None:
        with (tmp_path / "huge").open("wb") as file:
            file.truncate(MAX_BYTES + 1)
        assert "larger" in compare_text_file(str(tmp_path / "huge"), wanted).reasons[0]

    def test_missing_expectation_gives_no_verdict(self, wanted: str) -> None:
        with pytest.raises(EvaluatorFailed):
            compare_text_file(wanted, None)
