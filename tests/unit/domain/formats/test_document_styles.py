"""Looks of runs in Word's rarer forms."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.domain.formats.document_styles import DocumentStyles
from backend.domain.formats.documents import paragraphs, read_document, runs
from tests.factories.docx import p, save

STRONG = '<w:style w:type="character" w:styleId="Strong"><w:name w:val="Strong"/><w:rPr>{}</w:rPr></w:style>'
BY_STYLE = '<w:rStyle w:val="Strong"/>'


def look(path: Path, properties: str, pick: Callable[[DocumentStyles, Any, Any], Any], style: str = "") -> Any:
    """What `pick` says of the only run of a document."""
    run = f"<w:r><w:rPr>{properties}</w:rPr><w:t>x</w:t></w:r>"
    paragraph = p("", xml=run)
    value, reason = read_document(
        save(path / "x.docx", paragraph, styles=STRONG.format(style)),
        lambda one: pick(DocumentStyles(one), paragraphs(one)[0], list(runs(paragraphs(one)[0]))[-1]),
    )
    assert reason == ""
    return value


@pytest.mark.parametrize("mark", ["<w:rtl/>", "<w:cs/>"])
@pytest.mark.parametrize(
    ("properties", "style", "bold"),
    [
        ("<w:b/>", "", False),
        ("<w:bCs/>", "", True),
        ('<w:b/><w:bCs w:val="0"/>', "", False),
        (BY_STYLE, "<w:bCs/>", True),
        (BY_STYLE, "<w:b/>", False),
    ],
)
def test_bold_of_complex_scripts(tmp_path: Path, mark: str, properties: str, style: str, *, bold: bool) -> None:
    assert look(tmp_path, properties + mark, lambda styles, *run: styles.has("b", *run), style) is bold
    latin = look(tmp_path, properties, lambda styles, *run: styles.has("b", *run), style)
    assert latin is ("<w:b/>" in properties + style)


def test_size_of_complex_scripts(tmp_path: Path) -> None:
    sizes = '<w:sz w:val="20"/><w:szCs w:val="28"/>'
    for mark, size in (("", 10.0), ("<w:rtl/>", 14.0), ("<w:cs/>", 14.0), ('<w:rtl w:val="0"/>', 10.0)):
        assert look(tmp_path, sizes + mark, lambda styles, *run: styles.size(*run)) == size


@pytest.mark.parametrize(
    ("shading", "color"),
    [
        ('"clear" w:color="auto" w:fill="FFFF00"', "FFFF00"),
        ('"solid" w:color="FFFF00" w:fill="auto"', "FFFF00"),
        ('"solid" w:color="auto" w:fill="auto"', "000000"),
        ('"pct25" w:color="FF0000" w:fill="auto"', "FF0000"),
        ('"pct25" w:color="auto" w:fill="FFFF00"', "FFFF00"),
        ('"nil" w:fill="FFFF00"', None),
        ('"clear" w:color="FF0000" w:fill="auto"', None),
    ],
)
def test_patterns_of_shadings(tmp_path: Path, shading: str, color: str | None) -> None:
    properties = f"<w:shd w:val={shading}/>"
    assert look(tmp_path, properties, lambda styles, *run: styles.highlight(*run)) == color
    assert look(tmp_path, BY_STYLE, lambda styles, *run: styles.highlight(*run), properties) == color


ALL = '<w:rFonts w:ascii="Arial" w:hAnsi="Verdana" w:eastAsia="SimSun" w:cs="David"/>'
THEME = (
    '<w:rFonts w:asciiTheme="minorHAnsi" w:hAnsiTheme="minorHAnsi" w:eastAsiaTheme="minorEastAsia"'
    ' w:cstheme="minorBidi"/>'
)


@pytest.mark.parametrize(
    ("properties", "text", "fonts"),
    [
        (ALL, "word 12", {"Arial"}),
        (ALL, "élan", {"Arial", "Verdana"}),
        (ALL, "Привет", {"Verdana"}),
        (ALL, "漢字。", {"SimSun"}),
        (ALL, "かな", {"SimSun"}),
        (ALL, "한글", {"SimSun"}),
        (ALL, "ｆｕｌｌ", {"SimSun"}),
        (ALL, "漢 x", {"SimSun", "Arial"}),
        (ALL, "שלום", {"David"}),
        (ALL, "مرحبا", {"David"}),
        (ALL, "สวัสดี", {"David"}),
        (ALL, "“ … ”", {"Arial"}),
        (f"{ALL}<w:cs/>", "x", {"David"}),
        (f"{ALL}<w:rtl/>", "12", {"David"}),
        ('<w:rFonts w:ascii="Arial" w:hAnsi="Arial"/>', "漢字", {"Arial"}),
        ('<w:rFonts w:eastAsia="SimSun"/>', "漢字", {"SimSun"}),
        (THEME, "漢字", {"Cambria"}),
        (THEME, "שלום", {"Cambria"}),
        (THEME, "x", {"Cambria"}),
    ],
)
def test_fonts_by_script(tmp_path: Path, properties: str, text: str, fonts: set[str]) -> None:
    """The template's theme names no font for East Asian and complex letters: any language's may be used."""
    assert look(tmp_path, properties, lambda styles, *run: styles.fonts(*run, text)) == fonts


def test_a_style_names_the_font_of_one_script(tmp_path: Path) -> None:
    style = '<w:rFonts w:eastAsia="SimSun"/>'
    for text, font in (("漢字", "SimSun"), ("x", "Cambria")):
        assert look(tmp_path, BY_STYLE, lambda styles, *run, text=text: styles.fonts(*run, text), style) == {font}
