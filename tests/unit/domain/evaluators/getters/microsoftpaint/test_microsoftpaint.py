from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from backend.domain.evaluators.getters.microsoftpaint.image_dimension_matches_input import ImageDimensionMatchesInput
from backend.domain.evaluators.getters.microsoftpaint.is_red_circle_present_on_canvas import (
    IsRedCirclePresentOnCanvas,
)
from backend.domain.model.score import Blob
from tests.factories.paint import canvas


def blob(data: bytes | None) -> list[Blob]:
    return [Blob(name="a.png", data=data, note="absent")]


def drawn(box: tuple[int, int, int, int], colour: str = "red") -> bytes:
    image = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(image).ellipse(box, outline=colour, width=4)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class TestIsRedCirclePresentOnCanvas:
    """Values as WAA's getter gave them for the same pictures."""

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (canvas(400, 300, circle="red"), True),
            (canvas(400, 300, circle="#f06464"), True),
            (canvas(400, 300, circle="red", filled=True), False),
            (canvas(400, 300, circle="blue"), False),
            (canvas(400, 300), False),
            (drawn((-50, -50, 120, 120)), True),
            (drawn((-90, -90, 40, 40)), False),
            (canvas(4, 4, circle="red"), False),
        ],
    )
    def test_red_circle_is_recognised(self, data: bytes, expected: bool, tmp_path: Path) -> None:  # noqa: FBT001
        assert IsRedCirclePresentOnCanvas().read(blob(data), {"filepath": "a.png"}, tmp_path) is expected

    @pytest.mark.parametrize("data", [None, b"", b"no picture", canvas(100, 100, circle="red")[:300]])
    def test_unreadable_picture_is_false(self, data: bytes | None, tmp_path: Path) -> None:
        assert IsRedCirclePresentOnCanvas().read(blob(data), {"filepath": "a.png"}, tmp_path) is False


class TestImageDimensionMatchesInput:
    @pytest.mark.parametrize(
        ("width", "height", "expected"),
        [("800", "600", True), (800, 600, True), ("600", "800", False), ("800.5", 600, False)],
    )
    def test_width_and_height_must_match(self, width: str, height: str, expected: bool, tmp_path: Path) -> None:  # noqa: FBT001
        parameters = {"filepath": "a.png", "width": width, "height": height}
        ImageDimensionMatchesInput().check(parameters)
        assert ImageDimensionMatchesInput().read(blob(canvas(800, 600)), parameters, tmp_path) is expected
