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

    def test_partly_bold_is_neither(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["the cake"]}).value == 0.0
        assert rtf_goals(path, {"plain": ["the cake"]}).value == 0.0

    def test_the_share_counts_if_asked_for(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["Summer"], "without": ["Mr Smith .*"], "partial": True}).value == 0.5

    def test_what_should_have_been_kept(self, path: str) -> None:
        assert rtf_goals(path, {"bold": ["Summer"], "keeps": ["Mrs Smith .*"], "partial": True}).value == 0.0

    def test_absent_empty_damaged_and_huge_files_are_verdicts(self, tmp_path: Path) -> None:
        (tmp_path / "empty.rtf").touch()
        (tmp_path / "cut.rtf").write_bytes(NOTICE[:-5])
        (tmp_path / "huge.rtf").write_bytes(NOTICE + b" " * MAX_BYTES)
        for name in ("absent.rtf", "empty.rtf", "cut.rtf", "huge.rtf"):
            assert rtf_goals(str(tmp_path / name), {"bold": ["Summer"]}).value == 0.0
        assert rtf_goals(None, {}).value == 0.0
