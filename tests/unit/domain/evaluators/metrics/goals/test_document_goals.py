from pathlib import Path

import pytest
from docx import Document

from backend.domain.evaluators.metrics.goals.document_goals import document_goals


@pytest.fixture
def path(tmp_path: Path) -> str:
    document = Document()
    document.add_paragraph("Minutes", style="Heading 1")
    paragraph = document.add_paragraph("The budget ")
    paragraph.add_run("was ").bold = True
    paragraph.add_run("approved.").bold = True
    document.save(str(tmp_path / "a.docx"))
    return str(tmp_path / "a.docx")


class TestDocumentGoals:
    def test_paragraphs_styles_and_bold_text_over_several_runs(self, path: str) -> None:
        rules = {"paragraphs": ["The .* approved\\."], "styles": {"Minutes": "Heading 1"}, "bold": ["was approved."]}
        assert document_goals(path, rules).value == 1.0

    def test_partly_bold_is_not_bold(self, path: str) -> None:
        assert document_goals(path, {"bold": ["The budget was"]}).value == 0.0

    def test_partial_scores_the_share_of_goals(self, path: str) -> None:
        rules = {"styles": {"Minutes": "Title"}, "without": ["Agenda"], "partial": True}
        assert document_goals(path, rules).value == 0.5

    def test_changed_kept_content_scores_0(self, path: str) -> None:
        assert document_goals(path, {"bold": ["was"], "keeps": ["Present: .*"]}).value == 0.0

    def test_absent_empty_and_damaged_files_are_verdicts(self, tmp_path: Path, path: str) -> None:
        (tmp_path / "empty.docx").touch()
        (tmp_path / "cut.docx").write_bytes(Path(path).read_bytes()[:-300])
        for name in ("absent.docx", "empty.docx", "cut.docx"):
            assert document_goals(str(tmp_path / name), {"bold": ["a"]}).value == 0.0
