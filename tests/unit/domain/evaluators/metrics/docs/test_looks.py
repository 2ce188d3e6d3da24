"""Metrics of the look of documents: styles count, random details do not; the published score is available."""

import random
from pathlib import Path
from typing import Any

import pytest
from docx.enum.text import WD_COLOR_INDEX
from docx.shared import Pt
from PIL import Image

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.formats import picture_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.docx import Block, Picture, Xml, p, png, r, save, save_odt, table
from tests.factories.metric_cases.docs import BREAK, OBJECT, OPTIONS, PAGE, TABS, screenshot, settings
from tests.factories.office import soffice_all

registry.load()
YELLOW = WD_COLOR_INDEX.YELLOW
NORMAL = '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>{}</w:style>'
FORMULA = "<m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>"
PIECES = (
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PA</w:instrText></w:r>'
    "<w:r><w:instrText>GE</w:instrText></w:r><w:r><w:t>1</w:t></w:r></w:p>"
)
RULE = {"type": "text", "text": "Documents"}


def metric(name: str) -> Any:
    return registry.lookup(PluginKind.METRIC, name, "osworld")


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    """Calls a metric with one document, and another or rules if there are any."""

    def call(name: str, found: tuple[Block, ...], wanted: Any = None, **how: Any) -> MetricValue:
        styles, footer = how.pop("styles", ""), how.pop("footer", None)
        arguments: list[Any] = [save(tmp_path / "result.docx", *found, styles=styles, footer=footer)]
        if wanted is not None:
            arguments.append(save(tmp_path / "gold.docx", *wanted) if isinstance(wanted, tuple) else wanted)
        value = metric(name)(*arguments, **how)
        assert isinstance(value, MetricValue)
        return value

    return call


class TestLineSpacing:
    def test_spacing_of_styles_counts(self, judge: Any) -> None:
        """The template's default is 1.15 lines; a style says the same as the paragraph of the other document."""
        double = NORMAL.format('<w:pPr><w:spacing w:line="480" w:lineRule="auto"/></w:pPr>')
        wanted = (p("a", spacing=2.0),)
        assert judge("compare_line_spacing", ("a",), wanted, styles=double).value == 1.0
        assert judge("compare_line_spacing", ("a",), wanted, styles=double, strict_upstream=True).value == 0.0

    def test_reasons_name_paragraph_and_spacing(self, judge: Any) -> None:
        result = judge("compare_line_spacing", ("a", p("b", spacing=Pt(14))), ("a", p("b", spacing=1.5)))
        assert result.reasons == ("paragraph 2 has line spacing exact 14 pt, expected 1.5",)
        assert judge("compare_line_spacing", ("a b",), ("a", "b")).reasons == ("1 paragraphs, expected 2",)
        assert "from character 1" in judge("compare_line_spacing", ("a",), ("b",)).reasons[0]

    def test_three_parts_are_compared_by_effective_spacing(self, judge: Any) -> None:
        single = NORMAL.format('<w:pPr><w:spacing w:line="240" w:lineRule="auto"/></w:pPr>')
        parts = ("a", p("b", spacing=2.0), p("c", spacing=1.5))
        assert judge("evaluate_spacing", parts, styles=single).value == 1.0
        assert judge("evaluate_spacing", parts, styles=single, strict_upstream=True).value == 0.0
        assert judge("evaluate_spacing", parts[:2], styles=single).value == 0.0


class TestAlignment:
    def test_alignment_of_styles_counts(self, judge: Any) -> None:
        style = NORMAL.format('<w:pPr><w:jc w:val="center"/></w:pPr>')
        assert judge("is_first_line_centered", ("", "Title"), styles=style).value == 1.0
        assert judge("is_first_line_centered", ("Title",), styles=style, strict_upstream=True).value == 0.0

    def test_blank_first_paragraph_is_skipped(self, judge: Any) -> None:
        lines = (p("", align="center"), "Title")
        assert judge("is_first_line_centered", lines).value == 0.0
        assert judge("is_first_line_centered", lines, strict_upstream=True).value == 1.0

    @pytest.mark.parametrize(
        ("text", "ours", "theirs"), [("a b c d", 0, 1), ("a b c  d", 1, 1), ("a b c", 1, 0), ("", 0, 1)]
    )
    def test_third_word_must_be_followed_by_a_tab_or_spaces(
        self, judge: Any, text: str, ours: int, theirs: int
    ) -> None:
        assert judge("evaluate_alignment", (text,)).value == ours
        assert judge("evaluate_alignment", (text,), strict_upstream=True).value == theirs

    def test_tab_stop_positions_are_compared(self, judge: Any) -> None:
        """The text of the template's page is 8640 twentieths of a point wide."""
        one, two = (p("a b c\td", properties=TABS.format(place)) for place in (864, 1728))
        assert judge("check_tabstops", (one, one), (one, two), **OPTIONS).value == pytest.approx(0.95)
        assert judge("check_tabstops", ("a b c\td",), (one,), **OPTIONS).value == 0.0
        assert judge("check_tabstops", (p("a b", properties=TABS.format(864)),), (one,), **OPTIONS).value == 0.0
        assert judge("check_tabstops", (one,), (one,), word_number_split_by_tabstop=1, index=7).value == 0.0

    def test_tab_stops_by_style_and_in_any_order(self, judge: Any) -> None:
        def tabs(*stops: str) -> str:
            return f"<w:tabs>{''.join(f'<w:tab {stop}/>' for stop in stops)}</w:tabs>"

        first, second = 'w:val="left" w:pos="864"', 'w:val="right" w:pos="1728"'
        style = f'<w:style w:type="paragraph" w:styleId="T"><w:name w:val="T"/><w:pPr>{tabs(first)}</w:pPr></w:style>'
        gold = p("a b c\td", properties=tabs(first, second))
        cleared = tabs('w:val="clear" w:pos="864"')
        for properties, value in (
            (f'<w:pStyle w:val="T"/>{tabs(second)}', 1.0),
            (tabs(second, first), 1.0),
            (f'<w:pStyle w:val="T"/>{cleared}', 0.0),
            (tabs(second), 0.0),
        ):
            mine = p("a b c\td", properties=properties)
            assert judge("check_tabstops", (mine,), (gold,), styles=style).value == value
            assert judge("check_tabstops", (mine,), (gold,), styles=style, strict_upstream=True).value == 0.0

    def test_distant_tab_stop_scores_at_least_0(self, judge: Any) -> None:
        one, two = (p("a\td", properties=TABS.format(place)) for place in (1, 31_000))
        assert judge("check_tabstops", (one,), (two,)).value == 0.0


class TestFonts:
    RULES = {"font_name": "Times New Roman"}  # noqa: RUF012 - read only.

    def test_fonts_of_styles_count(self, judge: Any) -> None:
        style = NORMAL.format('<w:rPr><w:rFonts w:ascii="Times New Roman"/></w:rPr>')
        assert judge("compare_font_names", ("a",), self.RULES, styles=style).value == 1.0
        assert judge("compare_font_names", ("a",), self.RULES, styles=style, strict_upstream=True).value == 0.0

    def test_document_without_text_scores_0(self, judge: Any) -> None:
        assert judge("compare_font_names", ("",), self.RULES).value == 0.0
        assert judge("compare_font_names", ("",), self.RULES, strict_upstream=True).value == 1.0

    def test_invalid_rules_give_no_verdict(self, judge: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("compare_font_names", ("a",), {"fonts": "x"})

    @pytest.mark.parametrize(("font", "value"), [("Times New Roman", 1.0), ("Arial", 0.0)])
    def test_default_font_of_writer(self, tmp_path: Path, font: str, value: float) -> None:
        assert metric("find_default_font")(settings(tmp_path, font), self.RULES).value == value

    def test_entities_in_settings(self, tmp_path: Path) -> None:
        path = tmp_path / "registrymodifications.xcu"
        path.write_text('<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>')
        assert "EntitiesForbidden" in metric("find_default_font")(str(path), self.RULES).reasons[0]


class TestSubscripts:
    def test_subscripts_are_compared_by_character_not_by_run(self, judge: Any) -> None:
        cut, whole = p("H", "", r("2", subscript=True), "O"), p("H", r("2", subscript=True), "O")
        assert judge("compare_subscript_contains", (cut,), (whole,)).value == 1.0
        assert judge("compare_subscript_contains", (cut,), (whole,), strict_upstream=True).value == 0.0

    @pytest.mark.parametrize(
        ("found", "value", "published"),
        [
            ([r("H2O", subscript=True)], 0, 0),
            (["H", r("2O", subscript=True)], 0, 1),
            (["H", r("2", subscript=True), r("O", subscript=True)], 0, 1),
            (["H2O"], 0, 0),
            ([r("H", subscript=True), r("2", subscript=True), "O"], 0, 1),
            (["H", r("2", subscript=True), "O", r(" ", subscript=True)], 1, 1),
        ],
    )
    def test_more_or_less_than_expected(self, judge: Any, found: list[Any], value: float, published: float) -> None:
        wanted = p("H", r("2", subscript=True), "O ")
        assert judge("compare_subscript_contains", (p(*found),), (wanted,)).value == value
        assert judge("compare_subscript_contains", (p(*found),), (wanted,), strict_upstream=True).value == published

    def test_every_expected_subscript_is_needed(self, judge: Any) -> None:
        wanted = (p("H", r("2", subscript=True), "O"), p("CO", r("2", subscript=True)))
        result = (p("H", r("2", subscript=True), "O"), p("CO2"))
        assert judge("compare_subscript_contains", result, wanted).value == 0.0
        assert judge("compare_subscript_contains", result, wanted, strict_upstream=True).value == 1.0

    def test_subscript_on_another_character_scores_0(self, judge: Any) -> None:
        result, wanted = p("H2", r("O", subscript=True)), p("H", r("2", subscript=True), "O")
        assert judge("compare_subscript_contains", (result,), (wanted,)).value == 0.0
        assert judge("compare_subscript_contains", (result,), (wanted,), strict_upstream=True).value == 1.0


class TestItalics:
    WANTED = (p("a ", r("b", italic=True, size=14)),)

    def test_removed_italics_score_0(self, judge: Any) -> None:
        result = judge("check_italic_font_size_14", ("a b",), self.WANTED)
        assert result.reasons == ("'ab' is no longer italic",)
        assert judge("check_italic_font_size_14", ("a b",), self.WANTED, strict_upstream=True).value == 1.0

    def test_italics_split_into_runs_pass(self, judge: Any) -> None:
        wanted = (p("a ", r("bcd", italic=True, size=14), "e"),)
        result = (p("a ", r("b", italic=True, size=14), r("cd", italic=True, size=14), "e"),)
        assert judge("check_italic_font_size_14", result, wanted).value == 1.0

    def test_italics_that_may_stay(self, judge: Any) -> None:
        both = (p(r("quoted", italic=True)),)
        assert judge("check_italic_font_size_14", both, both).value == 1.0
        assert judge("check_italic_font_size_14", both, both, strict_upstream=True).value == 0.0


class TestStruckThrough:
    def test_an_empty_last_paragraph(self, judge: Any) -> None:
        struck, plain = ("a", p(r("b", strike=True)), ""), ("a", "b", "")
        name = "evaluate_strike_through_last_paragraph"
        assert [judge(name, result, plain).value for result in (struck, plain)] == [1.0, 0.0]
        assert judge(name, plain, plain, strict_upstream=True).value == 1.0

    def test_spaces_need_not_be_struck_through(self, judge: Any) -> None:
        result = (p(r("b", strike=True), " ", r("c", strike=True)),)
        assert judge("evaluate_strike_through_last_paragraph", result, ("b c",)).value == 1.0


class TestHighlighting:
    def test_highlighting_by_shading_or_split_runs_passes(self, judge: Any) -> None:
        shaded = '<w:r><w:rPr><w:shd w:fill="FFFF00"/></w:rPr><w:t>te</w:t></w:r>'
        wanted = (p("x ", r("note", highlight_color=YELLOW)),)
        cut = (p("x ", r("no", highlight_color=YELLOW), xml=shaded),)
        assert judge("compare_highlighted_text", cut, wanted).value == 1.0
        assert judge("compare_highlighted_text", cut, wanted, strict_upstream=True).value == 0.0
        assert judge("compare_highlighted_text", wanted * 2, wanted).value == 0.0
        assert judge("compare_highlighted_text", wanted * 2, wanted, strict_upstream=True).value == 1.0

    def test_highlighting_of_a_whole_paragraph(self, tmp_path: Path) -> None:
        style = '<style:style style:name="P1" style:family="paragraph">{}</style:style>'
        back = '<style:text-properties fo:background-color="#FFFF00"/>'
        body = '<text:p text:style-name="P1">all</text:p>'
        result = save_odt(tmp_path / "a.odt", body, automatic=style.format(back))
        gold = save_odt(tmp_path / "b.odt", body, automatic=style.format(""))
        assert metric("check_highlighted_words")(result, gold).reasons == ("'all' is highlighted",)
        assert metric("check_highlighted_words")(result, gold, strict_upstream=True).value == 1.0


class TestColors:
    GOLD = ("Words", table(("apple", "dog")))

    def colored(self, *parts: Any) -> tuple[Block, ...]:
        return ("Words", table((p(*parts), p(r("dog", color="0000FF")))))

    def test_words_split_into_runs_are_judged_whole(self, judge: Any) -> None:
        red = r("ap", color="FF0000"), r("ple", color="FE0101")
        assert judge("evaluate_colored_words_in_tables", self.colored(*red), self.GOLD).value == 1.0
        half = r("ap", color="FF0000"), r("ple", color="0000FF")
        result = judge("evaluate_colored_words_in_tables", self.colored(*half), self.GOLD)
        assert result.reasons == ("'apple' should be red, it is #0000ff and #ff0000",)

    def test_threshold_sets_the_colour_tolerance(self, judge: Any) -> None:
        near = self.colored(r("apple", color="E00000"))
        assert judge("evaluate_colored_words_in_tables", near, self.GOLD).value == 0.0
        assert judge("evaluate_colored_words_in_tables", near, self.GOLD, threshold=20).value == 1.0

    def test_document_without_tables_scores_0(self, judge: Any) -> None:
        assert judge("evaluate_colored_words_in_tables", ("Words",), self.GOLD).value == 0.0
        assert judge("evaluate_colored_words_in_tables", ("Words",), self.GOLD, strict_upstream=True).value == 1.0

    def test_automatic_colour_is_not_a_colour(self, judge: Any) -> None:
        assert "automatic" in judge("evaluate_colored_words_in_tables", self.GOLD, self.GOLD).reasons[0]

    def test_conversion_requires_lower_case_text(self, judge: Any) -> None:
        assert judge("evaluate_conversion", ("a", table(("LOUD",)))).reasons == ("'LOUD' is in capitals",)
        assert judge("evaluate_conversion", ("",)).value == 0.0
        assert judge("evaluate_conversion", ("",), strict_upstream=True).value == 1.0


class TestPictures:
    def test_pictures_are_compared_in_display_order(self, judge: Any) -> None:
        one, two = Picture(png("red")), Picture(png("blue"))
        assert judge("compare_docx_images", (one, two), (one, two)).value == 1.0
        assert judge("compare_docx_images", (two, one), (one, two)).value == 0.0
        assert judge("compare_docx_images", (), (one,)).reasons == ("the document shows 0 pictures, expected 1",)

    def test_palette_and_alpha_mode_do_not_count(self, judge: Any) -> None:
        one, two = Picture(png("red")), Picture(png("red", mode="RGBA"))
        assert judge("compare_docx_images", (one,), (two,)).value == 1.0
        assert judge("compare_docx_images", (one,), (two,), strict_upstream=True).value == 1.0

    def test_missing_picture_paragraph_scores_0(self, judge: Any) -> None:
        wanted = ("a", Picture(png()))
        assert judge("compare_contains_image", ("a",), wanted).value == 0.0
        assert judge("compare_contains_image", ("a",), wanted, strict_upstream=True).value == 1.0

    def test_words_own_equations_count(self, judge: Any) -> None:
        wanted = ("a", Xml(OBJECT))
        assert judge("compare_insert_equation", ("a", p("x", xml=FORMULA)), wanted).value == 1.0
        assert judge("compare_insert_equation", ("a", p("x", xml=FORMULA)), wanted, strict_upstream=True).value == 0.0
        with pytest.raises(EvaluatorFailed):
            judge("compare_insert_equation", wanted, ("a", "x"))

    def test_equation_in_another_paragraph_scores_0(self, judge: Any) -> None:
        wanted, everywhere = ("a", Xml(OBJECT)), (p("a", xml=FORMULA), Xml(OBJECT))
        assert judge("compare_insert_equation", everywhere, wanted).value == 0.0
        assert judge("compare_insert_equation", everywhere, wanted, strict_upstream=True).value == 1.0


class TestImageText:
    def test_compare_image_text_finds_the_text_of_a_window(self, tmp_path: Path) -> None:
        image = Image.open(screenshot(tmp_path, "Desktop  Documents")).convert("RGB")
        header = [100, 7, 2, 24, image.width, image.height, 0, 0, 32, 0, 32, 32, 4 * image.width, *([0] * 12)]
        pixels = image.convert("RGBA").tobytes("raw", "BGRA")
        path = tmp_path / "dump.png"
        path.write_bytes(b"".join(number.to_bytes(4, "big") for number in header) + pixels)
        assert metric("compare_image_text")(str(path), RULE).value == 1.0

    def test_missing_tesseract_gives_no_verdict(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with raises_code(EvaluatorFailed, "program_missing"):
            metric("compare_image_text")(screenshot(tmp_path, "x"), RULE)

    def test_slow_ocr_gives_no_verdict(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(picture_text, "SECONDS", 0.001)
        with raises_code(EvaluatorFailed, "ocr_timeout"):
            metric("compare_image_text")(screenshot(tmp_path, "x"), RULE)

    def test_picture_that_ocr_never_finishes_has_no_text(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Noise keeps Tesseract busy for minutes; that is what the agent left, not a slow machine."""
        monkeypatch.setattr(picture_text, "PROCESSOR_SECONDS", 1)
        path = tmp_path / "noise.png"
        Image.frombytes("L", (1000, 1000), random.Random(1).randbytes(10**6)).save(path)
        assert metric("compare_image_text")(str(path), RULE).value == 0.0

    @pytest.mark.parametrize("size", [(1, 1), (40_000, 2), (30_000, 1), (2, 30_000)])
    def test_pictures_of_extreme_sizes_score_0(self, tmp_path: Path, size: tuple[int, int]) -> None:
        assert metric("compare_image_text")(screenshot(tmp_path, "", size), RULE).value == 0.0

    @pytest.mark.parametrize("rule", [{}, {"type": "logo", "text": "x"}, {"type": "text"}])
    def test_invalid_rules_give_no_verdict(self, tmp_path: Path, rule: dict[str, str]) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("compare_image_text")(screenshot(tmp_path, "x"), rule)


class TestPages:
    def test_contains_page_break_works_without_rules(self, judge: Any) -> None:
        assert judge("contains_page_break", ("a", Xml(BREAK))).value == 1.0
        assert judge("contains_page_break", ("a",)).value == 0.0

    def test_paragraphs_that_begin_a_page(self, judge: Any) -> None:
        result = ("a", Xml(BREAK), p("b", properties="<w:pageBreakBefore/>"))
        assert [judge("contains_page_break", result, {"page_break_count": one}).value for one in (1, 2, 3)] == [1, 1, 0]
        strict = [
            judge("contains_page_break", result, {"page_break_count": one}, strict_upstream=True) for one in (1, 2)
        ]
        assert [one.value for one in strict] == [1, 0]

    def test_invalid_rules_give_no_verdict(self, judge: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            judge("contains_page_break", ("a",), {"page_break_count": "five"})

    @pytest.mark.parametrize(
        ("footer", "ours", "theirs"),
        [
            (PAGE, 1, 0),
            ("<w:p><w:r><w:t>2023</w:t></w:r></w:p>", 0, 1),
            (PIECES, 1, 1),
            ('<w:p><w:fldSimple w:instr="NUMPAGES"/></w:p>', 0, 0),
            (f"<w:sdt><w:sdtContent>{PAGE}</w:sdtContent></w:sdt><w:p/>", 1, 0),
        ],
    )
    def test_page_number_needs_a_field_in_the_footer(self, judge: Any, footer: str, ours: int, theirs: int) -> None:
        assert judge("has_page_numbers_in_footers", ("a",), footer=footer).value == ours
        assert judge("has_page_numbers_in_footers", ("a",), footer=footer, strict_upstream=True).value == theirs


class TestAsLibreOfficeSaves:
    """A document that LibreOffice has opened and saved looks as it did."""

    def test_every_metric_accepts_libreoffices_copy(self, tmp_path: Path) -> None:
        blocks = (
            p("Title", align="center"),
            p("H", r("2", subscript=True), "O ", r("note", highlight_color=YELLOW), spacing=2.0),
            p("a ", r("b", italic=True, size=14)),
            Picture(png(size=(40, 30))),
            table((p(r("apple", color="FF0000")), p(r("dog", color="0000FF")))),
            p(xml='<w:r><w:br w:type="page"/></w:r>'),
            p(r("last words", strike=True), properties=TABS.format(2000)),
        )
        gold = Path(save(tmp_path / "gold.docx", *blocks, footer=PAGE))
        saved = str(soffice_all([gold], "docx")[0])
        both = [
            "compare_line_spacing",
            "compare_subscript_contains",
            "compare_highlighted_text",
            "check_italic_font_size_14",
            "compare_docx_images",
            "compare_contains_image",
            "compare_docx_tables",
            "evaluate_colored_words_in_tables",
            "evaluate_strike_through_last_paragraph",
            "check_tabstops",
        ]
        result = {name: metric(name)(saved, str(gold)) for name in both}
        alone = ("is_first_line_centered", "has_page_numbers_in_footers", "contains_page_break")
        result |= {name: metric(name)(saved) for name in alone}
        assert {name: value.reasons for name, value in result.items() if value.value < 1.0} == {}
