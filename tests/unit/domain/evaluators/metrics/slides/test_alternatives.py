"""Differences between a slide's look and its file: shapes for newer programs, fields, runs without effect."""

from pathlib import Path
from typing import Any

import pytest
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

    def test_fallback_counts_where_office_shows_it(self, tmp_path: Path) -> None:
        model = deck(tmp_path / "gold.pptx", on(1, alternative("x", "unknown", "old")))
        same = deck(tmp_path / "same.pptx", on(1, alternative("x", "other", "old")))
        other = deck(tmp_path / "other.pptx", on(1, alternative("x", "unknown", "new")))
        assert [compare(mine, model).value for mine in (same, other)] == [1, 0]


RUN = '<a:r><a:rPr lang="en-US" sz="2400"{}>{}</a:rPr><a:t>{}</a:t></a:r>'
FIELD = '<a:fld id="{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}" type="{}"><a:rPr lang="en-US"/><a:t>{}</a:t></a:fld>'


def line(*content: str) -> Any:
    """Puts a paragraph in place of the first one of the second shape."""

    def change(slide: Any) -> None:
        body = slide.shapes[1].element.txBody
        body.replace(body.p_lst[0], parse_xml(f"<a:p {NS}>{''.join(content)}</a:p>"))

    return change


class TestLines:
    @pytest.mark.parametrize(
        ("mine", "right"),
        [
            ([RUN.format("", "", "al"), RUN.format("", "", ""), RUN.format("", "", "pha")], 1),
            ([RUN.format("", "", "al"), RUN.format(' b="1"', "", ""), RUN.format("", "", "pha")], 1),
            ([RUN.format("", "", "alpha"), RUN.format(' i="1"', "", "")], 1),
            ([RUN.format("", "", "al"), RUN.format(' kumimoji="1" altLang="ja-JP"', "", "pha")], 1),
            ([RUN.format("", "", "al"), RUN.format(' xmlns:z="urn:z"', "", "pha")], 1),
            ([RUN.format("", "", "al"), RUN.format(' b="1"', "", "pha")], 0),
            ([RUN.format("", "", "al"), "<a:br/>", RUN.format("", "", "pha")], 0),
        ],
    )
    def test_runs(self, tmp_path: Path, mine: list[str], right: int) -> None:
        model = deck(tmp_path / "gold.pptx", on(1, line(RUN.format("", "", "alpha"))))
        assert compare(deck(tmp_path / "mine.pptx", on(1, line(*mine))), model).value == right

    @pytest.mark.parametrize(
        ("mine", "gold", "right", "published"),
        [
            (FIELD.format("slidenum", "1"), FIELD.format("slidenum", "&lt;number&gt;"), 1, 0),
            (FIELD.format("datetime1", "1/1/2024"), FIELD.format("datetimeFigureOut", "2 May"), 1, 0),
            (FIELD.format("slidenum", "1"), FIELD.format("datetime1", "1"), 0, 1),
            (RUN.format("", "", "1"), FIELD.format("slidenum", "1"), 0, 0),
            (FIELD.format("other", "a"), FIELD.format("other", "b"), 0, 0),
        ],
    )
    def test_fields(self, tmp_path: Path, mine: str, gold: str, right: int, published: int) -> None:
        files = [deck(tmp_path / f"{name}.pptx", on(1, line(one))) for name, one in (("a", mine), ("b", gold))]
        assert compare(files[0], files[1]).value == right
        assert compare(files[0], files[1], strict_upstream=True).value == published
