from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.goals.rtf_goals import MAX_BYTES, rtf_goals

NOTICE = rb"{\rtf1\ansi \b Summer party\b0\par Mr Smith brings the \b ca\b0\b ke\b0 .\par}"


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "notice.rtf").write_bytes(NOTICE)
    return str(tmp_path / "notice.rtf")


class TestRtfGoals:
    def test_paragraphs_and_bold_text_over_several_runs(self, path: str) -> None:
        rules = {"paragraphs": ["Mr Smith .*"], "bold": ["Summer party", "cake"], "plain": ["Mr Smith"]}
        assert rtf_goals(path, rules).value == 1.0

    def test_partly_bold_text_is_neither_bold_nor_plain(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["the cake"]}).value == 0.0
        assert rtf_goals(path, {"plain": ["the cake"]}).value == 0.0

    @pytest.mark.parametrize(
        ("body", "bold", "plain"),
        [
            (r"word and {\b word}", 1.0, 1.0),
            (r"{\b two} {\b words} or word", 1.0, 1.0),
            (r"{\b wo}rd and w{\b ord}", 0.0, 0.0),
            (r"{\b sword, words, word}", 1.0, 0.0),
        ],
    )
    def test_one_bold_occurrence_suffices_and_blanks_are_ignored(
        self, tmp_path: Path, body: str, bold: float, plain: float
    ) -> None:
        (tmp_path / "a.rtf").write_text(rf"{{\rtf1\ansi {body}\par}}")
        text = "two words" if "two" in body else "word"
        assert rtf_goals(str(tmp_path / "a.rtf"), {"bold": [text]}).value == bold
        assert rtf_goals(str(tmp_path / "a.rtf"), {"plain": ["word"]}).value == plain

    def test_partial_scores_the_share_of_goals(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["Summer"], "without": ["Mr Smith .*"], "partial": True}).value == 0.5

    def test_changed_kept_content_scores_0(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["Summer"], "keeps": ["Mrs Smith .*"], "partial": True}).value == 0.0

    def test_absent_empty_damaged_and_huge_files_are_verdicts(self, tmp_path: Path) -> None:
        (tmp_path / "empty.rtf").touch()
        (tmp_path / "cut.rtf").write_bytes(NOTICE[:-5])
        (tmp_path / "huge.rtf").write_bytes(NOTICE + b" " * MAX_BYTES)
        for name in ("absent.rtf", "empty.rtf", "cut.rtf", "huge.rtf"):
            assert rtf_goals(str(tmp_path / name), {"bold": ["Summer"]}).value == 0.0
        assert rtf_goals(None, {}).value == 0.0
