"""`compare_font_names`: letters of each script have a font of their own."""

from pathlib import Path

import pytest

from backend.domain.evaluators.metrics.docs.compare_font_names import compare_font_names
from tests.factories.docx import p, save

RULES = {"font_name": "Times New Roman"}


@pytest.mark.parametrize(
    ("fonts", "text", "value", "published"),
    [
        ('w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:eastAsia="SimSun"', "漢字", 0.0, 1.0),
        ('w:ascii="Arial" w:hAnsi="Arial" w:eastAsia="Times New Roman"', "漢字", 1.0, 0.0),
        ('w:ascii="Arial" w:eastAsia="Times New Roman"', "漢字 x", 0.0, 0.0),
        ('w:ascii="Arial" w:cs="Times New Roman"', "שלום", 1.0, 0.0),
        ('w:ascii="Times New Roman" w:hAnsi="Arial"', "Привет", 0.0, 1.0),
        ('w:ascii="times new roman" w:hAnsi="TIMES NEW ROMAN"', "Times é", 1.0, 0.0),
    ],
)
def test_fonts_by_script(tmp_path: Path, fonts: str, text: str, value: float, published: float) -> None:
    run = f"<w:r><w:rPr><w:rFonts {fonts}/></w:rPr><w:t>{text}</w:t></w:r>"
    document = save(tmp_path / "result.docx", p(xml=run))
    verdicts = [compare_font_names(document, RULES, strict_upstream=strict).value for strict in (False, True)]
    assert verdicts == [value, published]
