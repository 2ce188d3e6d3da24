"""The smaller metrics of presentations, and of their editor's settings. `strict` values are what upstream returns."""

from pathlib import Path
from typing import Any

import pytest
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.oxml import parse_xml

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.editor_settings import SAVE, START, settings
from tests.factories.metric_cases.slides import BLUE, STRUCK, blue, pictured, stretched, strike, tree, upright
from tests.factories.office import soffice
from tests.factories.pptx import (
    NS,
    P,
    background,
    deck,
    font,
    gradient,
    on,
    other_picture,
    rgb,
    run,
    slide_numbers,
    transition,
)

registry.load()


def metric(name: str, *args: Any, dialect: str = "osworld", **options: Any) -> MetricValue:
    result: MetricValue = registry.lookup(PluginKind.METRIC, name, dialect)(*args, **options)
    return result


class TestTransition:
    DISSOLVE = {"slide_idx": 1, "transition_type": "dissolve"}  # noqa: RUF012

    def test_the_first_of_two_forms_counts(self, tmp_path: Path) -> None:
        def ripple(slide: Any) -> None:
            transition(None)(slide)
            slide._element.append(
                parse_xml(
                    f'<mc:AlternateContent {NS} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
                    ' xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"><mc:Choice Requires="p14">'
                    "<p:transition><p14:ripple/></p:transition></mc:Choice><mc:Fallback><p:transition><p:dissolve/>"
                    "</p:transition></mc:Fallback></mc:AlternateContent>"
                )
            )

        mine = deck(tmp_path / "a.pptx", on(2, ripple))
        assert metric("check_transition", mine, self.DISSOLVE).value == 0
        assert metric("check_transition", mine, {"slide_idx": 1, "transition_type": "ripple"}).value == 1

    def test_slides_are_counted_in_the_shows_order(self, tmp_path: Path) -> None:
        def swap(show: Any) -> None:
            order = show.part._element.find(f"{{{P}}}sldIdLst")
            order.insert(0, order[1])

        mine = deck(tmp_path / "a.pptx", swap)
        rules = {"slide_idx": 0, "transition_type": "dissolve"}
        # python-pptx renames the files on saving, so both ways of counting agree in what it writes.
        assert metric("check_transition", mine, rules).value == 1
        assert metric("check_transition", mine, rules, strict_upstream=True).value == 1

    def test_missing_slide_scores_0(self, tmp_path: Path) -> None:
        rules = {"slide_idx": 9, "transition_type": "dissolve"}
        assert metric("check_transition", deck(tmp_path / "a.pptx"), rules).value == 0

    @pytest.mark.parametrize("rules", [{}, {"slide_idx": "1", "transition_type": "x"}, {"slide_idx": 0}, None])
    def test_invalid_rules_give_no_verdict(self, rules: Any, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("check_transition", deck(tmp_path / "a.pptx"), rules)


class TestStrikethrough:
    def test_switched_off_is_not_struck(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", run(1, 1, font(strike="noStrike")), run(1, 2, font(strike="noStrike")))
        assert metric("check_strikethrough", mine, STRUCK).value == 0
        assert metric("check_strikethrough", mine, STRUCK, strict_upstream=True).value == 1

    def test_every_word_counts(self, tmp_path: Path) -> None:
        def more(show: Any) -> None:
            show.slides[0].shapes[1].text_frame.paragraphs[0].add_run().text = " and more"

        mine = deck(tmp_path / "a.pptx", *strike, more)
        assert metric("check_strikethrough", mine, STRUCK).value == 0
        assert metric("check_strikethrough", mine, STRUCK, strict_upstream=True).value == 1

    def test_missing_paragraph_is_reported(self, tmp_path: Path) -> None:
        result = metric("check_strikethrough", deck(tmp_path / "a.pptx", *strike), {**STRUCK, "slide_index_s": [7]})
        assert result.value == 0
        assert "slide 8, shape 2, paragraph 1 has no text" in result.reasons[0]


class TestOrientation:
    def test_orientation_survives_libreoffice(self, tmp_path: Path) -> None:
        mine = soffice(Path(deck(tmp_path / "a.pptx", upright)), "pptx:Impress MS PowerPoint 2007 XML")
        assert metric("check_slide_orientation_Portrait", str(mine)).value == 1


class TestFill:
    NAME = "evaluate_presentation_fill_to_rgb_distance"

    def test_theme_white_is_resolved_for_the_distance(self, tmp_path: Path) -> None:
        """One of four slides is yellow, the others have the white of the theme: upstream sees only the yellow."""
        mine = deck(tmp_path / "a.pptx")
        rules = {"rgb": [0, 0, 255]}
        assert metric(self.NAME, mine, BLUE).value == pytest.approx(0, abs=1e-9)
        assert metric(self.NAME, mine, rules).value == pytest.approx(0.75 * (1 - (2 / 3) ** 0.5), abs=1e-9)
        assert metric(self.NAME, mine, rules, strict_upstream=True).value == pytest.approx(0, abs=1e-9)

    def test_near_colour_scores_by_its_distance(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", blue, on(1, background(rgb("0000F0"))))
        for strict in (False, True):
            result = metric(self.NAME, mine, BLUE, strict_upstream=strict).value
            assert result == pytest.approx(1 - 15 / 255 / 3**0.5 / 4, abs=1e-9)

    def test_a_gradient_and_a_colour_of_the_theme(self, tmp_path: Path) -> None:
        def accent(slide: Any) -> None:
            slide.background.fill.solid()
            slide.background.fill.fore_color.theme_color = MSO_THEME_COLOR.ACCENT_1

        rules = {"rgb": [0x4F, 0x81, 0xBD]}
        mine = deck(tmp_path / "a.pptx", blue, on(1, accent), on(2, accent), on(3, accent), on(4, accent))
        assert metric(self.NAME, mine, rules).value == 1
        assert metric(self.NAME, mine, rules, strict_upstream=True).value == 0
        striped = deck(tmp_path / "b.pptx", blue, on(1, gradient("0000FF", "0000FF")))
        assert metric(self.NAME, striped, BLUE).value == pytest.approx(0.75)

    def test_the_windows_suite_knows_no_original(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", blue, on(1, background(rgb("FFFFFF"))))
        result = metric(self.NAME, mine, BLUE, dialect="waa").value
        assert result == pytest.approx(1 - (2 / 3) ** 0.5 / 4, abs=1e-9)

    @pytest.mark.parametrize("rules", [{}, {"rgb": "blue"}, {"rgb": [0, 0]}])
    def test_invalid_rules_give_no_verdict(self, rules: Any, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            metric(self.NAME, deck(tmp_path / "a.pptx"), rules)


class TestStretch:
    NAME = "check_image_stretch_and_center"

    def test_repacked_picture_is_the_same(self, tmp_path: Path) -> None:
        def second_slide(show: Any) -> None:
            order = show.part._element.find(f"{{{P}}}sldIdLst")
            order.insert(0, order[1])

        gold = deck(tmp_path / "gold.pptx", second_slide)
        mine = deck(tmp_path / "mine.pptx", other_picture(1, "JPEG"), second_slide, stretched)
        assert metric(self.NAME, mine, gold).value == 1
        assert metric(self.NAME, mine, gold, strict_upstream=True).value == 0

    def test_missing_picture_scores_0(self, tmp_path: Path) -> None:
        gold = deck(tmp_path / "gold.pptx", pictured)
        assert metric(self.NAME, deck(tmp_path / "mine.pptx"), gold).value == 0

    def test_original_without_picture_gives_no_verdict(self, tmp_path: Path) -> None:
        gold = deck(tmp_path / "gold.pptx")
        with raises_code(EvaluatorFailed, "invalid_reference"):
            metric(self.NAME, gold, gold)


def red_date(show: Any) -> None:
    """Black numbers, and a date in red after them in the master."""
    slide_numbers(show, master="000000", slides="000000")
    tree_ = show.slide_masters[0].shapes._spTree
    tree_.append(
        parse_xml(
            f'<p:sp {NS}><p:nvSpPr><p:cNvPr id="98" name="Date"/><p:cNvSpPr/><p:nvPr><p:ph type="dt" idx="10"/>'
            "</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:rPr><a:solidFill>"
            '<a:srgbClr val="FF0000"/></a:solidFill></a:rPr><a:t>today</a:t></a:r></a:p></p:txBody></p:sp>'
        )
    )


class TestPageNumbers:
    NAME = "check_page_number_colors"

    @pytest.mark.parametrize(
        ("colour", "name"),
        [("FF0000", "red"), ("C9211E", "red"), ("2A6099", "blue"), ("00A933", "green"), ("101010", "black")],
    )
    def test_colour_names_match_the_numbers_colour(self, colour: str, name: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", lambda show: slide_numbers(show, master=colour, slides=None))
        assert metric(self.NAME, mine, {"color": name}).value == 1
        assert metric(self.NAME, mine, {"color": "red" if name != "red" else "blue"}).value == 0

    def test_a_red_date_is_not_a_red_number(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", red_date)
        assert metric(self.NAME, mine, {"color": "red"}).value == 0
        assert metric(self.NAME, mine, {"color": "red"}, strict_upstream=True).value == 1

    def test_red_numbers_on_slides_pass_with_a_black_master(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", lambda show: slide_numbers(show, master="000000", slides="FF0000"))
        assert metric(self.NAME, mine, {"color": "red"}).value == 1

    def test_page_numbers_of_slides_override_the_master(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", lambda show: slide_numbers(show, master="FF0000", slides="000000"))
        assert metric(self.NAME, mine, {"color": "red"}).value == 0
        assert metric(self.NAME, mine, {"color": "black"}).value == 1
        assert metric("check_slide_numbers_color", mine).value == 0
        assert metric("check_slide_numbers_color", mine, strict_upstream=True).value == 1

    def test_one_number_in_another_colour_scores_0(self, tmp_path: Path) -> None:
        def one_black(show: Any) -> None:
            slide_numbers(show, master="FF0000", slides=None)
            fields = show.slides[1].shapes._spTree.iter("{http://schemas.openxmlformats.org/drawingml/2006/main}rPr")
            for properties in fields:
                properties.append(parse_xml(f'<a:solidFill {NS}><a:srgbClr val="000000"/></a:solidFill>'))

        mine = deck(tmp_path / "a.pptx", one_black)
        assert metric(self.NAME, mine, {"color": "red"}).value == 0
        assert metric("check_slide_numbers_color", mine).value == 0

    def test_an_unknown_colour_is_the_tasks_fault(self, tmp_path: Path) -> None:
        with raises_code(EvaluatorFailed, "invalid_rule"):
            metric(self.NAME, deck(tmp_path / "a.pptx"), {"color": "mauve"})

    def test_number_colour_survives_libreoffice(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", lambda show: slide_numbers(show, master="FF0000", slides="FF0000"))
        saved = str(soffice(Path(mine), "pptx:Impress MS PowerPoint 2007 XML"))
        assert metric(self.NAME, saved, {"color": "red"}).value == 1
        assert metric("check_slide_numbers_color", saved).value == 1

    def test_the_windows_suite_cuts_a_digit_off(self, tmp_path: Path) -> None:
        def two(show: Any) -> None:
            red_date(show)
            slide_numbers(show, master="0FF000", slides=None)

        mine = deck(tmp_path / "a.pptx", two)
        assert metric(self.NAME, mine, {"color": "red"}, dialect="waa", strict_upstream=True).value == 1


class TestSlideNumbers:
    NAME = "check_slide_numbers_color"

    def test_the_masters_number_is_red(self, tmp_path: Path) -> None:
        mine = deck(tmp_path / "a.pptx", lambda show: slide_numbers(show, master="FF0000", slides=None))
        assert metric(self.NAME, mine).value == 1
        assert metric(self.NAME, mine, strict_upstream=True).value == 1

    def test_plain_digits_are_not_a_slide_number(self, tmp_path: Path) -> None:
        def digits(show: Any) -> None:
            show.slides[0].shapes[1].text_frame.text = "42"

        assert metric(self.NAME, deck(tmp_path / "a.pptx", digits)).value == 0


class TestSettings:
    MINUTES = (SAVE, "AutoSaveTimeIntervall", "3")

    def test_disabled_auto_save_scores_0(self, tmp_path: Path) -> None:
        for off in ("false", "0"):
            file = settings(tmp_path / "r.xcu", self.MINUTES, (SAVE, "AutoSave", off))
            assert metric("check_auto_saving_time", file, {"minutes": 3}).value == 0
            assert metric("check_auto_saving_time", file, {"minutes": 3}, strict_upstream=True).value == 1

    def test_the_last_value_counts(self, tmp_path: Path) -> None:
        file = settings(tmp_path / "r.xcu", (SAVE, "AutoSaveTimeIntervall", "10"), self.MINUTES)
        assert metric("check_auto_saving_time", file, {"minutes": 3}).value == 1

    def test_minutes_are_a_number(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("check_auto_saving_time", settings(tmp_path / "r.xcu", self.MINUTES), {"minutes": "3"})

    def test_reason_names_the_default_of_an_unset_option(self, tmp_path: Path) -> None:
        result = metric("check_presenter_console_disable", settings(tmp_path / "r.xcu", self.MINUTES))
        assert result.reasons == ("EnablePresenterScreen has its default",)

    def test_entity_bomb_is_rejected(self, tmp_path: Path) -> None:
        bomb = tmp_path / "r.xcu"
        bomb.write_text('<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><x>&c;</x>')
        assert metric("check_presenter_console_disable", str(bomb)).value == 0

    def test_option_of_the_same_name_in_another_group_is_ignored(self, tmp_path: Path) -> None:
        file = settings(tmp_path / "r.xcu", ("/org.openoffice.Office.Calc/X", "EnablePresenterScreen", "false"))
        assert metric("check_presenter_console_disable", file).value == 0
        for off, value in (("false", 1), ("0", 1), ("1", 0)):
            file = settings(tmp_path / "s.xcu", (START, "EnablePresenterScreen", off))
            assert metric("check_presenter_console_disable", file).value == value


class TestLeftPanel:
    def test_missing_or_damaged_tree_scores_0(self) -> None:
        for dialect in ("osworld", "waa"):
            for nothing in (None, "", "<broken", "<a/>"):
                assert metric("check_left_panel", nothing, dialect=dialect).value == 0

    def test_each_suite_knows_its_own_sign(self) -> None:
        pane = tree("split-pane", parentcoord="(0, 0)", visible="true")
        assert metric("check_left_panel", pane).value == 0
        assert metric("check_left_panel", pane, dialect="waa").value == 1
