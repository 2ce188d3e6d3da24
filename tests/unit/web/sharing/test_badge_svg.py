"""Badges as SVG: text of any kind is escaped, and the picture is as wide as its text."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import ImageFont

from backend.services.sharing.views.badges import BadgeText
from backend.web.sharing.badge_svg import PADDING, SIZE, badge_svg, text_width

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(\"1\")</script> & 'x' ]]> \x00\x1b\n"
DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
"""Its letters are as wide as Verdana's."""


def drawn(label: str, value: str = "#1", *, ranked: bool = True) -> ET.Element:
    text = badge_svg(BadgeText(label=label, value=value, title=f"{label}: {value}", ranked=ranked))
    return ET.fromstring(text)  # noqa: S314 - our own


@pytest.mark.parametrize("label", ["starter", "W" * 60, "i" * 60, "用于桌面的基准", HOSTILE, "é" * 10, ""])
def test_the_parts_fit_their_texts(label: str) -> None:
    picture = drawn(label, "#1 · 68.0 % (48.4\u201382.8)")
    left, right = (float(part.attrib["width"]) for part in picture.findall(f"{SVG}g/{SVG}rect"))
    first, second = picture.findall(f"{SVG}g/{SVG}text")
    assert float(picture.attrib["width"]) == left + right
    assert float(first.attrib["textLength"]) == left - 2 * PADDING == round(text_width(label))
    assert float(second.attrib["x"]) == left + PADDING
    assert float(second.attrib["textLength"]) == right - 2 * PADDING


def test_text_stays_text() -> None:
    picture = drawn(HOSTILE, HOSTILE)
    assert {each.tag.removeprefix(SVG) for each in picture.iter()} == {
        "svg", "title", "clipPath", "rect", "g", "text",
    }  # fmt: skip
    assert picture.findall(f"{SVG}g/{SVG}text")[0].text == HOSTILE.translate(dict.fromkeys((0, 0x1B, 10), " "))


def test_unranked_badges_have_another_colour() -> None:
    colours = {drawn("a", ranked=ranked).findall(f"{SVG}g/{SVG}rect")[1].attrib["fill"] for ranked in (True, False)}
    assert len(colours) == 2


@pytest.mark.skipif(not DEJAVU.exists(), reason="needs the font DejaVu Sans (make setup installs it)")
@pytest.mark.parametrize(
    "text",
    [
        "WindowsAgentArena",
        "prompt · gpt-5-mini · set_of_marks",
        "#12 · 68.0 % (48.4\u201382.8)",
        "not ranked: 7 of 61 tasks",
    ],
)
def test_widths_are_those_of_the_font(text: str) -> None:
    font = ImageFont.truetype(str(DEJAVU), SIZE * 10)
    assert text_width(text) == pytest.approx(font.getlength(text) / 10, rel=0.03)


@pytest.mark.parametrize(("text", "width"), [("用", 11), ("e\u0301", 7), ("a\u200d", 7)])
def test_wide_letters_and_marks(text: str, width: int) -> None:
    assert text_width(text) == width
