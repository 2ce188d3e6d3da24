"""A presentation stays the same when LibreOffice saves it anew."""

import io
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.util import Cm

from backend.domain.evaluators.metrics.slides import compare_pptx_files
from tests.factories.office import soffice_all
from tests.factories.pptx import (
    colour,
    deck,
    gradient,
    other_picture,
    picture,
    run,
)

compare = compare_pptx_files.compare_pptx_files
compare_waa = compare_pptx_files.compare_pptx_files_waa
PPTX = "pptx:Impress MS PowerPoint 2007 XML"


def verdicts(mine: str, gold: str) -> list[float]:
    return [
        metric(mine, gold, strict_upstream=strict).value
        for metric in (compare, compare_waa)
        for strict in (False, True)
    ]


def rich(show: Any) -> None:
    """LibreOffice's changes when it saves: styles, theme colours, placeholders, crops, new tables."""
    first, second = show.slides[0], show.slides[1]
    for number, accent in enumerate((MSO_THEME_COLOR.ACCENT_1, MSO_THEME_COLOR.ACCENT_2)):
        shape = first.shapes.add_shape(1, Cm(12), Cm(4 + 3 * number), Cm(3), Cm(2))
        shape.fill.solid()
        shape.fill.fore_color.theme_color = accent
        shape.text_frame.text = "themed"
        shape.text_frame.paragraphs[0].runs[0].font.color.theme_color = MSO_THEME_COLOR.ACCENT_3
    first.shapes.add_shape(5, Cm(17), Cm(4), Cm(3), Cm(2)).text_frame.text = "style"
    cropped = second.shapes.add_picture(io.BytesIO(picture(2, kind="JPEG")), Cm(3), Cm(2), Cm(3), Cm(2))
    cropped.crop_left = cropped.crop_top = 0.2
    second.shapes.add_table(2, 2, Cm(2), Cm(2), Cm(10), Cm(3))
    listed = show.slides.add_slide(show.slide_layouts[1])
    listed.shapes.title.text = "List"
    listed.placeholders[1].text_frame.text = "first"
    gradient("FF0000", "0000FF")(listed)
    run(1, 1, colour("FF0000"))(show)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A rich presentation, saved by LibreOffice once, twice, and through its own format."""
    folder = tmp_path_factory.mktemp("saved")
    original = Path(deck(folder / "rich.pptx", rich))
    [once] = soffice_all([original], PPTX)
    [own] = soffice_all([original], "odp")
    again, around = folder / "again" / "again.pptx", folder / "around" / "around.odp"
    for source, target in ((once, again), (own, around)):
        target.parent.mkdir()
        target.write_bytes(source.read_bytes())
    twice, back = soffice_all([again, around], PPTX)
    return {"original": str(original), "once": str(once), "twice": str(twice), "around": str(back)}


# What LibreOffice writes in other words, and upstream compares as written.
SAVED = {
    "examine_shape": False,
    "examine_font_name": False,
    "examine_font_size": False,
    "examine_alignment": False,
    "examine_run_count": False,
}


class TestLibreOffice:
    """A deck's look stays the same however often it is saved: only what upstream compares may differ."""

    def test_two_ways_of_saving_agree(self, saved: dict[str, str]) -> None:
        result = compare(saved["around"], saved["once"], examine_alignment=False)
        assert result.reasons == ("5 slides, all as expected",)

    def test_properties_ignored_upstream_survive_saving(self, saved: dict[str, str]) -> None:
        for other in ("twice", "around"):
            for mine, gold in ((saved[other], saved["original"]), (saved["original"], saved[other])):
                ours = compare(mine, gold, **SAVED).reasons
                strict = compare(mine, gold, strict_upstream=True, **SAVED).reasons
                assert [reason for reason in ours if "as expected" not in reason and reason not in strict] == []

    def test_a_changed_picture_is_seen_after_saving(self, saved: dict[str, str], tmp_path: Path) -> None:
        show = Presentation(saved["once"])
        other_picture(9)(show)
        show.save(str(tmp_path / "mine.pptx"))
        reasons = compare(str(tmp_path / "mine.pptx"), saved["around"], examine_alignment=False).reasons
        assert reasons == ("slide 2, shape 2: a different picture",)
