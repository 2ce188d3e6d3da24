import json
import shutil
import subprocess
from pathlib import Path

import pytest
from docx import Document

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.fuzzy_place_math import fuzzy_place_math
from backend.domain.evaluators.metrics.general.is_gold_text_included_in_pdf import is_gold_text_included_in_pdf
from tests.factories.pdf_text import pdf

OFFICE = shutil.which("soffice")


def document(folder: Path, *paragraphs: str) -> str:
    made = Document()
    for paragraph in paragraphs:
        made.add_paragraph(paragraph)
    made.save(str(folder / "a.docx"))
    return str(folder / "a.docx")


def gold(folder: Path, **texts: str) -> str:
    (folder / "gold.json").write_text(json.dumps(texts))
    return str(folder / "gold.json")


def office(path: str, form: str) -> str:
    folder = Path(path).parent
    home = f"-env:UserInstallation=file://{folder}/office"
    command = [str(OFFICE), home, "--headless", "--convert-to", form, "--outdir", str(folder / "out"), path]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return str(folder / "out" / f"{Path(path).stem}.{form}")


needs_office = pytest.mark.skipif(OFFICE is None, reason="needs LibreOffice (soffice)")


class TestFuzzyPlaceMath:
    PLACES = ("深圳市福田区益田路5055号", "福田区莲科路18号", "深圳市福田区正义街1号")

    def test_score_is_the_mean_of_the_best_similarities(self, tmp_path: Path) -> None:
        path = document(tmp_path, "深圳市福田区益田路5055号", "", "  福田区莲科路18号 ", "深圳市福田区正义街2号")
        result = fuzzy_place_math(path, {"expected": list(self.PLACES)})
        assert result.value == pytest.approx((1 + 1 + 10 / 11) / 3, abs=1e-9)

    @pytest.mark.parametrize("words", [(), ("a", "b"), ("a b", "c d")])
    def test_wrong_number_of_words_scores_0(self, tmp_path: Path, words: tuple[str, ...]) -> None:
        assert fuzzy_place_math(document(tmp_path, *words), {"expected": ["a"]}).value == 0.0

    @needs_office
    def test_document_saved_by_libreoffice_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("\n".join(self.PLACES))
        path = office(str(tmp_path / "a.txt"), "docx")
        assert fuzzy_place_math(path, {"expected": list(self.PLACES)}).value == 1.0

    def test_empty_expectation_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            fuzzy_place_math(document(tmp_path, "a"), {"expected": []})


class TestIsGoldTextIncludedInPdf:
    def test_text_over_two_lines_is_found(self, tmp_path: Path) -> None:
        path = pdf(tmp_path / "a.pdf", ["Quarterly", "report of the", "north"])
        assert is_gold_text_included_in_pdf(path, gold(tmp_path, a="Quarterly report of the north")).value == 1.0

    def test_text_of_all_pages_is_searched(self, tmp_path: Path) -> None:
        path = pdf(tmp_path / "a.pdf", [f"line {number}" for number in range(120)])
        assert is_gold_text_included_in_pdf(path, gold(tmp_path, a="line 0", b="line 119")).value == 1.0

    def test_ligatures_and_soft_hyphens(self, tmp_path: Path) -> None:
        path = pdf(tmp_path / "a.pdf", ["first office of all"])
        expected = gold(tmp_path, a="\ufb01rst o\ufb03ce", b="of\u00adfice")
        assert is_gold_text_included_in_pdf(path, expected).value == 1.0

    def test_the_missing_text_is_named(self, tmp_path: Path) -> None:
        result = is_gold_text_included_in_pdf(pdf(tmp_path / "a.pdf", ["x"]), gold(tmp_path, sum="12.50"))
        assert result.value == 0.0
        assert result.reasons == ("not met: sum: '12.50'",)

    @needs_office
    def test_pdf_of_libreoffice_is_read(self, tmp_path: Path) -> None:
        path = office(document(tmp_path, "Quarterly report", "The sum is 1,234.50 EUR"), "pdf")
        assert is_gold_text_included_in_pdf(path, gold(tmp_path, a="Quarterly report", b="1,234.50 EUR")).value == 1.0

    def test_other_values_than_texts(self, tmp_path: Path) -> None:
        (tmp_path / "gold.json").write_text('{"a": 5}')
        with pytest.raises(EvaluatorFailed):
            is_gold_text_included_in_pdf(pdf(tmp_path / "a.pdf", ["5"]), str(tmp_path / "gold.json"))
