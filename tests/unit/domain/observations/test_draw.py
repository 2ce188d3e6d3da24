import numpy as np
import pytest
from PIL import Image

from backend.domain.model.trajectory import Mark
from backend.domain.observations._draw import COLOURS, draw, uneven
from backend.domain.observations._marks import Element

GROUND = (230, 230, 230)


def mark(number: int, *box: int, origin: str = "tree") -> Mark:
    x, y, width, height = box
    return Mark(id=number, kind="control", x=x, y=y, width=width, height=height, origin=origin)


def drawn(*marks: Mark) -> Image.Image:
    picture = Image.new("RGB", (200, 100), GROUND)
    draw(picture, marks)
    return picture


class TestDraw:
    @pytest.mark.parametrize("origin", COLOURS)
    def test_a_box_in_the_colour_of_its_origin(self, origin: str) -> None:
        picture = drawn(mark(1, 20, 10, 100, 60, origin=origin))
        corners = [(20, 10), (119, 10), (20, 69), (119, 69)]
        assert [picture.getpixel(corner) for corner in corners] == [COLOURS[origin]] * 4
        assert picture.getpixel((60, 30)) == GROUND
        assert picture.getpixel((121, 40)) == GROUND

    def test_the_number_in_white_at_the_bottom_right(self) -> None:
        pixels = np.asarray(drawn(mark(7, 20, 10, 100, 60)))
        white = np.argwhere((pixels == 255).all(axis=2))
        assert len(white) > 5
        assert white[:, 0].min() > 50
        assert white[:, 1].min() > 105
        assert (white.max(axis=0) < (70, 120)).all()

    def test_numbers_look_different(self) -> None:
        one, two = (np.asarray(drawn(mark(number, 20, 10, 100, 60))) for number in (14, 41))
        assert (one != two).any()

    @pytest.mark.parametrize("place", [(0, 0, 2, 2), (199, 99, 1, 1), (150, 90, 50, 10)])
    def test_a_label_stays_on_the_picture(self, place: tuple[int, int, int, int]) -> None:
        pixels = np.asarray(drawn(mark(888, *place)))
        assert (pixels == 255).all(axis=2).sum() > 15

    @pytest.mark.parametrize("origin", COLOURS)
    def test_white_can_be_read_on_it(self, origin: str) -> None:
        parts = [part / 255 for part in COLOURS[origin]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.5


class TestUneven:
    def test_leaves_out_what_shows_one_colour(self) -> None:
        picture = Image.new("RGB", (200, 100), GROUND)
        picture.paste((0, 0, 0), (150, 80, 152, 82))
        plain = Element("control", "plain", 10, 10, 50, 20, "tree")
        inked = Element("control", "inked", 140, 60, 40, 30, "tree")
        whole = Element("control", "whole", 0, 0, 200, 100, "tree")
        assert [each.text for each in uneven(picture, [plain, inked, whole])] == ["inked", "whole"]
