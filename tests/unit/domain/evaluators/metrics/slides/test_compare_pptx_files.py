"""Two presentations. The values with `upstream` are what OSWorld's and WindowsAgentArena's functions return."""

from pathlib import Path
from typing import Any

import pytest
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.enum.text import PP_ALIGN
from pptx.oxml import parse_xml
from pptx.util import Cm, Pt

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.slides import compare_pptx_files
from tests.error_codes import raises_code
from tests.factories.pptx import (
    NS,
    UNDERLINE_DOUBLE,
    A,
    align,
    background,
    cell,
    colour,
    deck,
    font,
    gradient,
    member,
    move,
    on,
    other_picture,
    rgb,
    run,
    transition,
)

compare = compare_pptx_files.compare_pptx_files
compare_waa = compare_pptx_files.compare_pptx_files_waa
PPTX = "pptx:Impress MS PowerPoint 2007 XML"


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> str:
    return deck(tmp_path_factory.mktemp("gold") / "gold.pptx")


def verdicts(mine: str, gold: str) -> list[float]:
    return [
        metric(mine, gold, strict_upstream=strict).value
        for metric in (compare, compare_waa)
        for strict in (False, True)
    ]


def cell_font(**values: Any) -> Any:
    return cell(lambda one: font(**values)(one.text_frame.paragraphs[0].runs[0]))


def recoloured_bullets(show: Any) -> None:
    for element in show.slides[1]._element.iter(f"{{{A}}}buClr"):
        element[0].set("val", "00C000")


def shape_fill(show: Any) -> None:
    show.slides[1].shapes[2].fill.fore_color.rgb = rgb("FF0000")


def other_link(show: Any) -> None:
    show.slides[0].shapes[2].text_frame.paragraphs[1].runs[0].hyperlink.address = "https://other.example/"


def narrow(show: Any) -> None:
    show.slide_width = Cm(20)


def other_note(show: Any) -> None:
    show.slides[0].notes_slide.notes_text_frame.text = "say nothing"


def cell_text(one: Any) -> None:
    one.text_frame.paragraphs[0].runs[0].text = "T1"


def level(number: int) -> Any:
    def change(show: Any) -> None:
        show.slides[1].shapes[3].text_frame.paragraphs[0].level = number

    return change


def more(show: Any) -> None:
    show.slides[0].shapes.add_textbox(0, 0, Cm(1), Cm(1))


def renumbered(show: Any) -> None:
    for paragraph in show.slides[1].shapes[3].text_frame.paragraphs:
        for element in paragraph._p.pPr.findall(f"{{{A}}}buChar"):
            element.set("char", "-")


# change: OSWorld's verdict, ours, WindowsAgentArena's, ours in its dialect.
SEEN_BY_ALL = {
    "bold": run(1, 1, font(bold=True)),
    "italic": run(1, 1, font(italic=True)),
    "underline": run(1, 1, font(underline=True)),
    "strike-through": run(1, 1, font(strike="sngStrike")),
    "size": run(1, 1, font(size=Pt(25))),
    "font": run(1, 1, font(name="Arial")),
    "alignment": align(1, 1, PP_ALIGN.RIGHT),
    "place": move(1, 1, left=Cm(3)),
    "note": other_note,
    "text of a cell": cell(cell_text),
    "sign of a bullet": renumbered,
    "level": level(2),
}
OVERLOOKED_BY_ALL = {
    "newly added colour": run(1, 1, colour("FF0000")),
    "replaced picture": other_picture(7),
    "changed transition": on(2, transition("wipe")),
    "lost transition": on(2, transition(None)),
    "new transition": on(1, transition("fade")),
    "gradient": on(1, gradient("FF0000", "0000FF")),
    "size in a group": member(font(size=Pt(40))),
    "bold in a group": member(font(bold=True)),
    "colour in a group": member(colour("FF0000")),
    "size in a cell": cell_font(size=Pt(30)),
    "fill of a cell": cell(lambda one: setattr(one.fill.fore_color, "rgb", rgb("FF0000"))),
    "fill of a shape": shape_fill,
    "link": other_link,
    "size of the slides": narrow,
}
ALLOWED = {
    "same picture as JPEG": (other_picture(1, "JPEG"),),
    "a hair's breadth": (move(1, 1, left=int(Cm(2)) + 300),),
}


class TestBothSuites:
    """Ours, OSWorld's, ours in WindowsAgentArena's dialect, that suite's own."""

    @pytest.mark.parametrize("name", SEEN_BY_ALL)
    def test_differences_that_upstream_sees(self, name: str, gold: str, tmp_path: Path) -> None:
        assert verdicts(deck(tmp_path / "mine.pptx", SEEN_BY_ALL[name]), gold) == [0, 0, 0, 0]

    @pytest.mark.parametrize("name", OVERLOOKED_BY_ALL)
    def test_differences_that_upstream_overlooks(self, name: str, gold: str, tmp_path: Path) -> None:
        assert verdicts(deck(tmp_path / "mine.pptx", OVERLOOKED_BY_ALL[name]), gold) == [0, 1, 0, 1]

    def test_equal_decks_score_1(self, gold: str) -> None:
        assert verdicts(gold, gold) == [1, 1, 1, 1]

    def test_a_double_line_under_plain_text(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", run(1, 1, font(underline=UNDERLINE_DOUBLE)))
        assert verdicts(mine, gold) == [0, 1, 0, 0]

    def test_the_colour_of_bullets(self, gold: str, tmp_path: Path) -> None:
        assert verdicts(deck(tmp_path / "mine.pptx", recoloured_bullets), gold) == [0, 1, 0, 0]

    def test_bold_written_as_off_and_left_aligned_are_the_default(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", run(1, 1, font(bold=False)), align(1, 1, PP_ALIGN.LEFT), level(0))
        assert verdicts(mine, gold) == [1, 1, 0, 0]


class TestOSWorld:
    @pytest.mark.parametrize("name", ALLOWED)
    def test_allowed_changes_are_no_difference(self, name: str, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", *ALLOWED[name])
        assert [compare(mine, gold).value, compare(mine, gold, strict_upstream=True).value] == [1, 1]

    def test_reasons_name_slide_shape_and_difference(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", run(1, 1, font(size=Pt(25))), other_note)
        assert compare(mine, gold).reasons == (
            "slide 1: notes 'say nothing', expected 'say hello'",
            "slide 1, shape 2, paragraph 1, 'alpha': size 25 pt, expected 24 pt",
        )

    def test_reasons_are_few(self, gold: str, tmp_path: Path) -> None:
        def all_bold(show: Any) -> None:
            for slide in show.slides:
                slide.shapes.title.text = "x" * 500

        assert len(compare(deck(tmp_path / "mine.pptx", all_bold), gold).reasons) <= 20

    def test_number_of_slides_and_shapes_must_match(self, gold: str, tmp_path: Path) -> None:
        longer = deck(tmp_path / "a.pptx", lambda show: show.slides.add_slide(show.slide_layouts[6]))
        assert compare(longer, gold).value == 0
        assert compare(longer, gold, examine_number_of_slides=False).value == 1
        assert compare(deck(tmp_path / "b.pptx", more), gold).value == 0

    def test_background_colours_are_compared_exactly(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", on(3, background(rgb("FFFE00"))))
        assert [compare(mine, gold).value, compare(mine, gold, strict_upstream=True).value] == [0, 0]
        assert compare(mine, gold, examine_background_color=False).value == 1

    def test_a_background_of_the_theme_is_its_colour(self, gold: str, tmp_path: Path) -> None:
        def accent(slide: Any) -> None:
            slide.background.fill.solid()
            slide.background.fill.fore_color.theme_color = MSO_THEME_COLOR.ACCENT_1

        themed = deck(tmp_path / "a.pptx", on(1, accent))
        written = deck(tmp_path / "b.pptx", on(1, background(rgb("4F81BD"))))
        assert compare(themed, written).value == 1
        assert compare(themed, written, strict_upstream=True).value == 0  # Upstream raises.
        assert compare(themed, gold).value == 0


class TestOptions:
    """The options of the published tasks: what is switched off may differ."""

    @pytest.mark.parametrize(
        ("options", "changes"),
        [
            ({"examine_shape": False}, ["place", "size of the slides"]),
            ({"examine_alignment": False}, ["alignment"]),
            ({"examine_font_name": False}, ["font"]),
            ({"examine_font_size": False}, ["size", "size in a cell", "size in a group"]),
            ({"examine_font_bold": False}, ["bold", "bold in a group"]),
            ({"examine_font_italic": False}, ["italic"]),
            ({"examine_font_underline": False}, ["underline"]),
            ({"examine_strike_through": False}, ["strike-through"]),
            ({"examine_color_rgb": False}, ["newly added colour", "fill of a cell", "fill of a shape"]),
            ({"examine_background_color": False}, ["gradient"]),
            ({"examine_note": False}, ["note"]),
            ({"examine_bullets": False}, ["sign of a bullet"]),
            ({"examine_indent": False, "examine_bullets": False}, ["level"]),
            ({"examine_text": False, "examine_bullets": False}, ["text of a cell", "link"]),
        ],
    )
    def test_switched_off_options_hide_their_differences(
        self, options: dict[str, bool], changes: list[str], gold: str, tmp_path: Path
    ) -> None:
        mine = deck(tmp_path / "mine.pptx", *({**SEEN_BY_ALL, **OVERLOOKED_BY_ALL}[name] for name in changes))
        assert compare(mine, gold, **options).reasons == ("4 slides, all as expected",)

    def test_bold_in_cells_follows_its_option(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", cell_font(bold=True))
        assert compare(mine, gold, examine_font_bold=False).value == 1
        assert compare(mine, gold, examine_font_bold=False, strict_upstream=True).value == 0

    def test_additional_run_counts_unless_switched_off(self, gold: str, tmp_path: Path) -> None:
        def split(show: Any) -> None:
            paragraph = show.slides[0].shapes[1].text_frame.paragraphs[0]
            paragraph.runs[0].text = "al"
            paragraph.add_run().text = "pha"

        mine = deck(tmp_path / "mine.pptx", split)
        assert compare(mine, gold).value == 0
        assert compare(mine, gold, examine_run_count=False).value == 1

    @pytest.mark.parametrize(
        ("first", "second", "value"),
        [
            ("", 'lang="en-GB" dirty="0"', 1.0),
            ('lang="en-US" err="1"', 'lang="en-US" dirty="0"', 1.0),
            ('noProof="1" altLang="de"', 'smtClean="0"', 1.0),
            ('b="1" lang="en-US"', 'b="1" lang="de-DE"', 1.0),
            ('sz="2400" b="1"', 'b="1" sz="2400"', 1.0),
            ("", 'b="1"', 0.0),
            ("", 'baseline="30000"', 0.0),
            ("", 'cap="all"', 0.0),
            ('sz="2400"', 'sz="2000"', 0.0),
            ("", 'u="sng"', 0.0),
        ],
    )
    def test_runs_of_equal_formatting_are_merged(
        self,
        first: str,
        second: str,
        value: float,
        gold: str,
        tmp_path: Path,
    ) -> None:
        """Except to upstream's function, OSWorld's, which counts them."""

        def split(show: Any) -> None:
            one = show.slides[0].shapes[1].text_frame.paragraphs[0]._p
            for element in one.findall(f"{{{A}}}r"):
                one.remove(element)
            for text, look in (("al", first), ("pha", second)):
                one.append(parse_xml(f"<a:r {NS}><a:rPr {look}/><a:t>{text}</a:t></a:r>"))

        def whole(show: Any) -> None:
            one = show.slides[0].shapes[1].text_frame.paragraphs[0]._p
            for element in one.findall(f"{{{A}}}r"):
                one.remove(element)
            one.append(parse_xml(f"<a:r {NS}><a:rPr {first}/><a:t>alpha</a:t></a:r>"))

        mine, model = deck(tmp_path / "mine.pptx", split), deck(tmp_path / "model.pptx", whole)
        assert compare(mine, model).value == value
        assert compare(model, mine).value == value
        assert compare(mine, model, strict_upstream=True).value == 0.0

    def test_examine_image_size_compares_only_pictures(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_image_size": True, "approximately_tolerance": 0.01}
        assert compare(deck(tmp_path / "a.pptx", move(2, 1, left=Cm(9))), gold, **options).value == 1
        assert compare(deck(tmp_path / "b.pptx", move(2, 1, width=Cm(6.05))), gold, **options).value == 1
        assert compare(deck(tmp_path / "c.pptx", move(2, 1, width=Cm(6.5))), gold, **options).value == 0
        assert compare(deck(tmp_path / "d.pptx", move(1, 1, left=Cm(9))), gold, **options).value == 0

    def test_examine_modify_height_compares_only_heights(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_modify_height": True, "_note": "a remark"}
        assert compare(deck(tmp_path / "a.pptx", move(2, 1, width=Cm(9))), gold, **options).value == 1
        assert compare(deck(tmp_path / "b.pptx", move(2, 1, height=Cm(5))), gold, **options).value == 0
        assert compare(deck(tmp_path / "c.pptx", move(1, 1, width=Cm(9))), gold, **options).value == 0

    def test_examine_title_bottom_position_needs_the_title_below(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_title_bottom_position": True}
        assert compare(gold, gold, **options).value == 0
        assert compare(deck(tmp_path / "a.pptx", move(1, 0, top=Cm(15))), gold, **options).value == 1
        moved_twice = deck(tmp_path / "b.pptx", move(1, 0, top=Cm(15)), move(2, 1, top=Cm(9)))
        assert compare(moved_twice, gold, **options).value == 0

    def test_examine_table_bottom_position_needs_the_table_below(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_table_bottom_position": True}
        assert compare(gold, gold, **options).value == 0
        assert compare(deck(tmp_path / "a.pptx", move(3, 1, top=Cm(12))), gold, **options).value == 1
        assert compare(deck(tmp_path / "b.pptx", move(3, 1, top=Cm(7))), gold, **options).value == 0

    def test_examine_right_position_needs_the_picture_at_the_right(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_right_position": True}
        assert compare(gold, gold, **options).value == 0
        assert compare(deck(tmp_path / "a.pptx", move(2, 1, left=Cm(15))), gold, **options).value == 1

    def test_examine_top_position_needs_the_picture_at_the_top(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_top_position": True}
        assert compare(gold, gold, **options).value == 0
        assert compare(deck(tmp_path / "a.pptx", move(2, 1, top=Cm(0.5))), gold, **options).value == 1
        elsewhere = deck(tmp_path / "b.pptx", move(2, 1, top=Cm(0.5)), move(1, 1, top=Cm(2)))
        assert [compare(elsewhere, gold, **options).value, compare_waa(elsewhere, gold, **options).value] == [1, 0]

    def test_examine_shape_for_shift_size_needs_the_expected_size(self, gold: str, tmp_path: Path) -> None:
        options: dict[str, Any] = {"examine_shape": False, "examine_shape_for_shift_size": True}
        assert compare(gold, gold, **options).value == 1
        assert compare(deck(tmp_path / "a.pptx", move(2, 1, left=Cm(9))), gold, **options).value == 0

    def test_lenient_height_ignores_the_height_of_text_shapes(self, gold: str, tmp_path: Path) -> None:
        taller = deck(tmp_path / "a.pptx", move(1, 1, height=Cm(3)))
        assert compare(taller, gold, examine_shape_lenient_height=True).value == 1
        assert compare(taller, gold, examine_shape_lenient_height=True, strict_upstream=True).value == 0
        wider = deck(tmp_path / "b.pptx", move(1, 1, width=Cm(9)))
        assert compare(wider, gold, examine_shape_lenient_height=True).value == 0

    @pytest.mark.parametrize("options", [{"examine_everything": True}, {"examine_text": "no"}, {"examine_note": None}])
    def test_an_option_without_meaning_is_the_tasks_fault(self, options: dict[str, Any], gold: str) -> None:
        with pytest.raises(EvaluatorFailed):
            compare(gold, gold, **options)


class TestWindowsAgentArena:
    def test_missing_shapes_score_0(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", more)
        assert compare_waa(mine, gold).value == 0

    def test_backgrounds_are_compared(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", on(3, background(rgb("FF0000"))))
        assert [compare_waa(mine, gold).value, compare_waa(mine, gold, strict_upstream=True).value] == [0, 1]

    def test_lengths_are_compared_exactly(self, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", move(1, 1, left=int(Cm(2)) + 1))
        assert compare_waa(mine, gold).value == 0


class TestTransitions:
    @pytest.mark.parametrize("name", ["cut", "zoom", "strips"])
    def test_effects_that_libreoffice_drops_are_no_difference(self, name: str, gold: str, tmp_path: Path) -> None:
        mine = deck(tmp_path / "mine.pptx", on(1, transition(name)))
        assert compare(mine, gold).value == 1

    def test_a_new_effect_with_its_substitute(self, gold: str, tmp_path: Path) -> None:
        from pptx.oxml import parse_xml

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

        assert compare(deck(tmp_path / "mine.pptx", on(2, ripple)), gold).value == 1


class TestWhoseFault:
    def test_missing_result_scores_0(self, gold: str) -> None:
        assert compare(None, gold).reasons == ("the file does not exist",)

    def test_missing_expectation_gives_no_verdict(self, gold: str) -> None:
        with raises_code(EvaluatorFailed, "invalid_reference"):
            compare(gold, None)
