"""Shapes that slides have in alternatives for newer programs (`mc:AlternateContent`), compared by their words."""

from pathlib import Path
from typing import Any

from pptx.oxml import parse_xml

from backend.domain.evaluators.metrics.slides.compare_pptx_files import compare_pptx_files as compare
from tests.factories.pptx import NS, deck, on

ALTERNATIVE = (
    f'<mc:AlternateContent {NS} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" xmlns:x="urn:other">'
    '<mc:Choice Requires="%s">%s</mc:Choice><mc:Fallback>%s</mc:Fallback></mc:AlternateContent>'
)


def box_of(text: str) -> str:
    return (
        '<p:sp><p:nvSpPr><p:cNvPr id="77" name="Box"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
        f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def alternative(requires: str, text: str, fallback: str) -> Any:
    """Adds a shape for newer programs, with another for older ones."""

    def change(slide: Any) -> None:
        slide.shapes._spTree.append(parse_xml(ALTERNATIVE % (requires, box_of(text), box_of(fallback))))

    return change


class TestAlternatives:
    def test_a_shape_for_newer_programs_is_compared(self, tmp_path: Path) -> None:
        model = deck(tmp_path / "gold.pptx", on(1, alternative("a14", "x + 1", "picture")))
        same = deck(tmp_path / "same.pptx", on(1, alternative("a14", "x + 1", "another")))
        other = deck(tmp_path / "other.pptx", on(1, alternative("a14", "x + 2", "picture")))
        without = deck(tmp_path / "without.pptx")
        assert [compare(mine, model).value for mine in (same, other, without)] == [1, 0, 0]
        strict = {"strict_upstream": True, "examine_bullets": False}  # Bullets are looked for in all of the XML.
        assert [compare(mine, model, **strict).value for mine in (same, other, without)] == [1, 1, 1]

    def test_where_office_shows_the_fallback_that_counts(self, tmp_path: Path) -> None:
        model = deck(tmp_path / "gold.pptx", on(1, alternative("x", "unknown", "old")))
        same = deck(tmp_path / "same.pptx", on(1, alternative("x", "other", "old")))
        other = deck(tmp_path / "other.pptx", on(1, alternative("x", "unknown", "new")))
        assert [compare(mine, model).value for mine in (same, other)] == [1, 0]
