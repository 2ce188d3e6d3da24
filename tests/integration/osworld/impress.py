"""Stand-ins for tasks of Impress; LibreOffice saves all of them, as it has OSWorld's own."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pptx.enum.text import MSO_AUTO_SIZE, PP_ALIGN
from pptx.util import Cm, Pt

from tests.factories.editor_settings import SAVE, START, settings
from tests.factories.pptx import Change, align, background, colour, deck, font, move, on, rgb, run, transition
from tests.integration.osworld.stand_in import Maker, StandIn

YELLOW, RED, GREEN, BLUE, PURPLE, ORANGE = "FFFF00", "FF0000", "00FF00", "0000FF", "800080", "FF8000"


def show(*changes: Change) -> Maker:
    """The deck of the tests with changes."""
    return lambda path: deck(path, *changes, _fixed)


def _fixed(made: Any) -> None:
    """Boxes keep their size: LibreOffice moves those that fit their text anew each time it saves them."""
    for slide in made.slides:
        shapes = [inner for shape in slide.shapes for inner in getattr(shape, "shapes", [shape])]
        for shape in shapes:
            if shape.has_text_frame and not shape.is_placeholder:
                shape.text_frame.word_wrap, shape.text_frame.auto_size = True, MSO_AUTO_SIZE.NONE


saved = partial(StandIn, all_saved=True)


def upright(made: Any) -> None:
    """Slides that stand."""
    made.slide_width, made.slide_height = made.slide_height, made.slide_width


def note(number: int, text: str) -> Change:
    """A slide's note."""

    def change(made: Any) -> None:
        made.slides[number - 1].notes_slide.notes_text_frame.text = text

    return change


def titled(number: int, text: str) -> Change:
    """A slide's title."""

    def change(made: Any) -> None:
        made.slides[number - 1].shapes.title.text = text

    return change


def longer(count: int) -> Change:
    """More slides: a title and two boxes each."""

    def change(made: Any) -> None:
        for number in range(5, count + 1):
            slide = made.slides.add_slide(made.slide_layouts[5])
            slide.shapes.title.text = f"Slide {number}"
            for place in range(2):
                box = slide.shapes.add_textbox(Cm(2), Cm(6 + 3 * place), Cm(16), Cm(2))
                box.text_frame.text = f"box {place + 1}"
                box.text_frame.paragraphs[0].runs[0].font.size = Pt(20)

    return change


def row(*words: str) -> Change:
    """A table on slide 4 with these words in its first row."""

    def change(made: Any) -> None:
        table = made.slides[3].shapes.add_table(2, 4, Cm(2), Cm(9), Cm(18), Cm(4)).table
        for column, word in enumerate(words):
            table.cell(0, column).text = word

    return change


def tabled(made: Any) -> None:
    """A table of five rows and two columns."""
    made.slides[3].shapes.add_table(5, 2, Cm(2), Cm(9), Cm(18), Cm(6))


def doubled(made: Any) -> None:
    """More words in a box."""
    made.slides[1].shapes[3].text_frame.paragraphs[0].runs[0].text = "Page 1"


def all_slides(value: str) -> Change:
    """One colour behind all slides."""

    def change(made: Any) -> None:
        for slide in made.slides:
            background(rgb(value))(slide)

    return change


def every(number: int, change: Any) -> Change:
    """A change of every run of a slide's boxes."""

    def apply(made: Any) -> None:
        for shape in made.slides[number - 1].shapes:
            if shape.has_text_frame:
                for paragraph in shape.text_frame.paragraphs:
                    for each in paragraph.runs:
                        change(each)

    return apply


def xcu(*entries: tuple[str, str, str]) -> Maker:
    """LibreOffice's own settings."""
    return lambda path: settings(Path(path), *entries)


BOTTOM = Cm(14)
# The metric looks for the title that the second slide of the published file has.
COMPARED = (titled(1, "Cover"), titled(2, "Product Comparison"))
STAND_INS: Mapping[str, StandIn] = {
    f"libreoffice_impress/{key}": own
    for key, own in {
        "550ce7e7": saved(show(), show(run(1, 1, font(strike="sngStrike")), run(1, 2, font(strike="sngStrike")))),
        "ce88f674": saved(show(), show(upright)),
        "3b27600c": saved(show(), show(all_slides(BLUE))),
        "a097acff": saved(show(), show()),
        "21760ecb": saved(show(), show(on(1, transition("dissolve")))),
        "73c99fb9": saved(show(), show(doubled)),
        "a434992a": saved(
            show(), show(every(1, colour(ORANGE)), every(1, font(size=Pt(12))), on(1, background(rgb(RED))))
        ),
        "7dbc52a6": saved(show(), show(note(2, "Picture"), run(2, 0, font(bold=True)))),
        "841b50aa": saved(show(), show(note(1, "APP"), on(1, background(rgb(PURPLE))))),
        "8979838c": saved(show(), show(note(1, "Product Comparison"), on(1, background(rgb(PURPLE))))),
        "9cf05d24": saved(show(), show(on(1, background(rgb(GREEN))))),
        "08aced46": saved(show(), show(titled(2, "Note"), align(2, 0, PP_ALIGN.RIGHT))),
        "edb61b14": saved(
            show(), show(every(4, font(name="Times New Roman")), run(4, 0, font(name="Times New Roman")))
        ),
        "57667013": saved(show(longer(5)), show(longer(5), every(5, colour(YELLOW)))),
        "5cfb9197": saved(show(row("a", "b", "c", "d")), show(row("T1", "T2", "T3", "T4"))),
        "05dd4c1d": saved(
            show(longer(5), align(5, 1, PP_ALIGN.CENTER)),
            show(longer(5), align(3, 0, PP_ALIGN.RIGHT), align(4, 0, PP_ALIGN.CENTER), align(5, 1, PP_ALIGN.LEFT)),
        ),
        "5c1a6c3d": saved(show(), show(every(1, font(bold=True)), run(1, 0, font(size=Pt(44), u="sng")))),
        "4ed5abd0": saved(
            show(longer(5), *[run(n, 0, colour(RED)) for n in (2, 3, 5)]),
            show(longer(5), *[run(n, 0, look) for n in (2, 3, 5) for look in (colour("000000"), font(u="sng"))]),
        ),
        "3161d64e": saved(
            show(longer(14)), show(longer(14), run(14, 1, font(size=Pt(60))), run(14, 2, font(size=Pt(28))))
        ),
        "04578141": saved(show(), show(run(1, 0, colour(YELLOW)), run(1, 1, colour(RED)), run(1, 2, colour(GREEN)))),
        "39be0d19": saved(show(titled(4, "Features")), show(titled(4, "Features"), tabled)),
        "ac1b39ff": saved(show(), show(move(3, 1, top=BOTTOM)), gold=show()),
        "15aece23": saved(show(*COMPARED), show(*COMPARED, move(2, 0, top=BOTTOM)), gold=show(*COMPARED)),
        "2b94c692": saved(show(), show(move(2, 1, left=Cm(18))), gold=show()),
        "70bca0cc": saved(show(run(2, 0, colour(RED))), show(run(2, 0, colour(RED)), on(2, background(rgb(RED))))),
        "2cd43775": StandIn(show(), xcu((SAVE, "AutoSaveTimeIntervall", "3"))),
        "0f84bef9": StandIn(show(), xcu((START, "EnablePresenterScreen", "false"))),
    }.items()
}
