"""Calls of the metrics of presentations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pptx.util import Cm

from tests.factories.editor_settings import SAVE, START, settings
from tests.factories.metric_cases import Call, MetricCase
from tests.factories.pptx import background, deck, font, move, on, rgb, run, sized, slide_numbers, transition

KINDS = ("pptx",)


def pair(*changes: Any) -> Callable[[Path], Call]:
    """A changed deck beside the unchanged one."""
    return lambda folder: Call((deck(folder / "mine.pptx", *changes), deck(folder / "gold.pptx")))


def alone(*rules: Any, changes: tuple[Any, ...] = ()) -> Callable[[Path], Call]:
    """A deck with the rules it is judged by."""
    return lambda folder: Call((deck(folder / "mine.pptx", *changes), *rules))


def large(*rules: Any) -> Callable[[Path, int], Call]:
    """A large deck with rules."""
    return lambda folder, size: Call((sized(folder / "mine.pptx", size), *rules))


def large_pair(folder: Path, size: int) -> Call:
    """Two large decks that differ in nothing."""
    return Call((sized(folder / "mine.pptx", size), sized(folder / "gold.pptx", size)))


def saves(minutes: str) -> Callable[[Path], Call]:
    """Settings with an interval."""
    return lambda folder: Call(
        (settings(folder / "r.xcu", (SAVE, "AutoSaveTimeIntervall", minutes)), {"minutes": 3}),
    )


def screen(value: str) -> Callable[[Path], Call]:
    """Settings with or without the presenter's screen."""
    return lambda folder: Call((settings(folder / "r.xcu", (START, "EnablePresenterScreen", value)),))


def blue(show: Any) -> None:
    """Blue slides."""
    for slide in show.slides:
        background(rgb("0000FF"))(slide)


def upright(show: Any) -> None:
    """Slides that stand."""
    show.slide_width, show.slide_height = show.slide_height, show.slide_width


def stretched(show: Any) -> None:
    """The first slide's picture fills it."""
    shape = next(shape for shape in show.slides[0].shapes if shape.shape_type == 13)
    shape.left = shape.top = 0
    shape.width, shape.height = show.slide_width, show.slide_height


def pictured(show: Any) -> None:
    """The first slide has a picture in its corner."""
    import io

    from tests.factories.pptx import picture

    show.slides[0].shapes.add_picture(io.BytesIO(picture(3)), 0, 0, Cm(5), Cm(4))


def stretch(*changes: Any) -> Callable[[Path], Call]:
    """A deck whose first slide has a picture, and the original."""
    return lambda folder: Call(
        (deck(folder / "mine.pptx", pictured, *changes), deck(folder / "gold.pptx", pictured)),
    )


def stretch_large(folder: Path, size: int) -> Call:
    """The same, large."""
    return Call((sized(folder / "mine.pptx", size), sized(folder / "gold.pptx", size)))


def numbers(colour: str) -> Any:
    """Slide numbers of a colour."""
    return lambda show: slide_numbers(show, master=colour, slides=colour)


def tree(role: str, **states: str) -> str:
    """An accessibility tree with one pane."""
    name = states.pop("name", "")
    rest = " ".join(f'cp:{key}="{value}"' for key, value in states.items())
    return (
        '<desktop-frame xmlns:cp="uri:deskat:component.at-spi.gnome.org"><application name="soffice"><root-pane><panel>'
        f'<{role} name="{name}" {rest}/></panel></root-pane></application></desktop-frame>'
    )


DISSOLVE = {"slide_idx": 1, "transition_type": "dissolve"}
BLUE = {"rgb": [0, 0, 255], "original_rgb": [255, 255, 255]}
STRUCK = {"slide_index_s": [0], "shape_index_s": [1, 2], "paragraph_index_s": [0]}
strike = (run(1, 1, font(strike="sngStrike")), run(1, 2, font(strike="sngStrike")))

CASES = {
    "compare_pptx_files": MetricCase(
        passing=pair(move(1, 1, left=int(Cm(2)) + 100)),
        near_miss=pair(run(1, 1, font(bold=True))),
        sized=large_pair,
        kinds=KINDS,
    ),
    "compare_pptx_files@waa": MetricCase(
        passing=pair(), near_miss=pair(move(1, 1, left=int(Cm(2)) + 100)), sized=large_pair, kinds=KINDS
    ),
    "check_transition": MetricCase(
        passing=alone(DISSOLVE),
        near_miss=alone(DISSOLVE, changes=(on(2, transition("fade")),)),
        sized=large(DISSOLVE),
        kinds=KINDS,
    ),
    "check_slide_orientation_Portrait": MetricCase(
        passing=alone(changes=(upright,)), near_miss=alone(), sized=large(), kinds=KINDS
    ),
    "check_strikethrough": MetricCase(
        passing=alone(STRUCK, changes=strike),
        near_miss=alone(STRUCK, changes=strike[:1]),
        sized=large({"slide_index_s": [0], "shape_index_s": [0], "paragraph_index_s": [1]}),
        kinds=KINDS,
    ),
    "evaluate_presentation_fill_to_rgb_distance": MetricCase(
        passing=alone(BLUE, changes=(blue,)),
        near_miss=alone(BLUE, changes=(blue, on(1, background(rgb("0000F0"))))),
        sized=large(BLUE),
        kinds=KINDS,
    ),
    "evaluate_presentation_fill_to_rgb_distance@waa": MetricCase(
        passing=alone({"rgb": [0, 0, 255]}, changes=(blue,)),
        near_miss=alone({"rgb": [0, 0, 255]}, changes=(blue, on(1, background(rgb("FFFFFF"))))),
        sized=large({"rgb": [0, 0, 255]}),
        kinds=KINDS,
    ),
    "check_image_stretch_and_center": MetricCase(
        passing=stretch(stretched), near_miss=stretch(), sized=stretch_large, kinds=KINDS
    ),
    "check_slide_numbers_color": MetricCase(
        passing=alone(changes=(numbers("FF0000"),)),
        near_miss=alone(changes=(numbers("F00000"),)),
        sized=large(),
        kinds=KINDS,
    ),
    "check_page_number_colors": MetricCase(
        passing=alone({"color": "red"}, changes=(numbers("E01010"),)),
        near_miss=alone({"color": "red"}, changes=(numbers("000000"),)),
        sized=large({"color": "red"}),
        kinds=KINDS,
    ),
    "check_page_number_colors@waa": MetricCase(
        passing=alone({"color": "blue"}, changes=(numbers("0000FF"),)),
        near_miss=alone({"color": "blue"}, changes=(numbers("00FF00"),)),
        sized=large({"color": "blue"}),
        kinds=KINDS,
    ),
    "check_auto_saving_time": MetricCase(
        passing=saves("3"),
        near_miss=saves("30"),
        sized=lambda folder, size: Call((settings(folder / "r.xcu", size=size), {"minutes": 3})),
        kinds=("xcu",),
    ),
    "check_presenter_console_disable": MetricCase(
        passing=screen("false"),
        near_miss=screen("true"),
        sized=lambda folder, size: Call((settings(folder / "r.xcu", size=size),)),
        kinds=("xcu",),
    ),
    "check_left_panel": MetricCase(
        passing=lambda _: Call((tree("document-frame", name="Slides View"),)),
        near_miss=lambda _: Call((tree("document-frame", name="Drawing View"),)),
        of_file=False,
    ),
    "check_left_panel@waa": MetricCase(
        passing=lambda _: Call((tree("split-pane", parentcoord="(0, 0)", visible="true"),)),
        near_miss=lambda _: Call((tree("split-pane", parentcoord="(0, 0)"),)),
        of_file=False,
    ),
}
