"""Differences between a slide's look and its file: shapes for newer programs, fields, runs without effect."""

from pathlib import Path
from typing import Any

import pytest
from pptx.oxml import parse_xml

from backend.domain.evaluators.metrics.slides.compare_pptx_files import compare_pptx_files as compare
from tests.factories.pptx import NS, deck, on

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"

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
            ([RUN.format("", "", "al"), RUN.format(' b="0"', "", "pha")], 1),
            ([RUN.format(' i="0" u="none"', "", "al"), RUN.format(' strike="noStrike"', "", "pha")], 1),
            ([RUN.format("", "", "al"), RUN.format(' baseline="30000"', "", "pha")], 0),
            ([RUN.format("", "", "al"), "<a:br/>", RUN.format("", "", "pha")], 0),
        ],
    )
    def test_runs_of_equal_formatting_are_merged(self, tmp_path: Path, mine: list[str], right: int) -> None:
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
    def test_fields_count_whatever_they_showed(
        self, tmp_path: Path, mine: str, gold: str, right: int, published: int
    ) -> None:
        files = [deck(tmp_path / f"{name}.pptx", on(1, line(one))) for name, one in (("a", mine), ("b", gold))]
        assert compare(files[0], files[1]).value == right
        assert compare(files[0], files[1], strict_upstream=True).value == published


class TestInherited:
    """The first shape is the title: centered, 44 points, in the theme's font by the layout and master."""

    @staticmethod
    def title(properties: str = "", paragraph: str = "") -> Any:
        run = f"<a:r><a:rPr {properties}</a:rPr><a:t>Title</a:t></a:r>"

        def change(slide: Any) -> None:
            body = slide.shapes[0].element.txBody
            for old in body.findall(f"{A}p"):
                body.remove(old)
            body.append(parse_xml(f"<a:p {NS}><a:pPr {paragraph}/>{run}</a:p>"))

        return on(1, change)

    @pytest.mark.parametrize(
        ("properties", "paragraph", "same"),
        [
            ('sz="4400">', "", True),
            ('sz="4000">', "", False),
            ('><a:latin typeface="+mj-lt"/>', "", True),
            ('><a:latin typeface="+MJ-LT"/>', "", True),
            ('><a:latin typeface="Arial"/>', "", False),
            (">", 'algn="ctr"', True),
            (">", 'algn="r"', False),
        ],
    )
    def test_repeating_an_inherited_look_changes_nothing(
        self, tmp_path: Path, properties: str, paragraph: str, *, same: bool
    ) -> None:
        model = deck(tmp_path / "gold.pptx", self.title(">"))
        mine = deck(tmp_path / "mine.pptx", self.title(properties, paragraph))
        assert [compare(mine, model).value, compare(model, mine).value] == [float(same)] * 2
        assert compare(mine, model, strict_upstream=True).value == 0.0

    @pytest.mark.parametrize(("hue", "same"), [("0", True), ("14400000", False), ("21600000", True)])
    def test_colors_by_hue(self, tmp_path: Path, hue: str, *, same: bool) -> None:
        by_hue = f'><a:solidFill><a:hslClr hue="{hue}" sat="100000" lum="50%"/></a:solidFill>'
        red = '><a:solidFill><a:prstClr val="red"/></a:solidFill>'
        model, mine = (deck(tmp_path / f"{x}.pptx", self.title(text)) for x, text in (("a", red), ("b", by_hue)))
        assert compare(mine, model).value == float(same)

    @staticmethod
    def styled(attributes: str) -> Any:
        """Changes the look of titles in the first slide's layout."""

        def change(slide: Any) -> None:
            title = slide.slide_layout.placeholders[0].element.txBody
            title.replace(
                title.find(f"{A}lstStyle"),
                parse_xml(f"<a:lstStyle {NS}><a:lvl1pPr><a:defRPr {attributes}/></a:lvl1pPr></a:lstStyle>"),
            )

        return on(1, change)

    @pytest.mark.parametrize(
        ("layout", "properties", "shown", "other"),
        [
            ('b="1"', ">", 'b="1">', 'b="0">'),
            ('b="true"', 'b="1">', ">", 'b="false">'),
            ('i="1"', ">", 'i="1">', 'i="0">'),
            ('u="sng"', ">", 'u="sng">', 'u="none">'),
            ('u="sng"', ">", 'u="sng">', 'u="dbl">'),
            ('strike="sngStrike"', ">", 'strike="sngStrike">', 'strike="noStrike">'),
            ('b="0"', ">", 'b="0">', 'b="1">'),
            ('u="none"', ">", 'u="none">', 'u="sng">'),
        ],
    )
    def test_marks_of_the_layout(self, tmp_path: Path, layout: str, properties: str, shown: str, other: str) -> None:
        texts = {"mine": properties, "gold": shown, "other": other}
        mine, model, different = (
            deck(tmp_path / f"{name}.pptx", self.styled(layout), self.title(text)) for name, text in texts.items()
        )
        options = {"examine_strike_through": True}
        assert [compare(mine, gold, **options).value for gold in (model, different)] == [1, 0]
        assert [compare(gold, mine, **options).value for gold in (model, different)] == [1, 0]

    def test_a_mark_that_only_the_layout_has(self, tmp_path: Path) -> None:
        """The same run is bold by one layout and plain by the other."""
        mine = deck(tmp_path / "mine.pptx", self.styled('b="1"'), self.title(">"))
        model = deck(tmp_path / "gold.pptx", self.title(">"))
        assert [compare(mine, model, strict_upstream=strict).value for strict in (False, True)] == [0, 1]
