import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from backend.domain.formats.colour_difference import Color, difference

BLUE, RED = (0, 0, 255), (255, 0, 0)


def known(one: Color, two: Color) -> float:
    """Scikit-image's result."""
    first, second = (rgb2lab(np.array(color) / 255.0) for color in (one, two))
    return float(deltaE_ciede2000(first, second))  # type: ignore[no-untyped-call]


def color(numbers: np.random.Generator) -> Color:
    red, green, blue = (int(part) for part in numbers.integers(0, 256, 3))
    return red, green, blue


class TestDifference:
    def test_is_scikit_image_s(self) -> None:
        numbers = np.random.default_rng(5)
        for _ in range(2000):
            one, two = color(numbers), color(numbers)
            assert difference(one, two) == pytest.approx(known(one, two), abs=1e-6), (one, two)

    @pytest.mark.parametrize("one", [BLUE, RED, (0, 0, 0), (255, 255, 255), (128, 128, 128)])
    @pytest.mark.parametrize("two", [BLUE, RED, (0, 0, 0), (255, 255, 255), (0, 0, 250), (11, 10, 10)])
    def test_pure_colours_and_greys(self, one: Color, two: Color) -> None:
        assert difference(one, two) == pytest.approx(known(one, two), abs=1e-6)

    def test_the_same_is_nothing(self) -> None:
        assert difference(RED, RED) == 0
