from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.goals.text_goals import text_goals


class TestTextGoals:
    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        (tmp_path / "note.txt").write_text("Room 204 \nBring the budget\nold line\n")
        return str(tmp_path / "note.txt")

    def test_whole_lines_are_matched(self, path: str) -> None:
        assert text_goals(path, {"lines": ["Room \\d+", "Bring the budget"]}).value == 1.0

    def test_a_part_of_a_line_is_not_a_match(self, path: str) -> None:
        assert text_goals(path, {"lines": ["Bring"]}).value == 0.0

    def test_partial_scores_the_share_of_goals(self, path: str) -> None:
        rules = {"lines": ["Room 204", "Friday"], "without": ["new line", "old line"], "partial": True}
        assert text_goals(path, rules).value == 0.5

    def test_one_unmet_goal_scores_0_without_partial(self, path: str) -> None:
        assert text_goals(path, {"lines": ["Room 204", "Friday"]}).value == 0.0

    def test_removed_kept_line_scores_0(self, path: str) -> None:
        result = text_goals(path, {"lines": ["Room 204"], "keeps": ["title"], "partial": True})
        assert result.value == 0.0
        assert any("broken" in reason for reason in result.reasons)

    def test_missing_file_scores_0(self) -> None:
        assert text_goals(None, {"lines": ["a"]}).reasons == ("the file does not exist",)

    def test_no_goals_is_a_broken_task(self, path: str) -> None:
        with pytest.raises(EvaluatorFailed):
            text_goals(path, {})
