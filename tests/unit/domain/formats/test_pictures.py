"""Pictures of every mode become the 8 bits that viewers show."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backend.domain.evaluators.metrics.goals.same_picture import same_picture
from backend.domain.formats.pictures import decode_picture, read_picture

RAMP = np.linspace(0, 255, 60 * 40).reshape(40, 60).round().astype(np.uint8)
"""What each picture shows, in grey."""
WIDE = RAMP.astype(np.uint16) * 257
NOTE = 0x0112


def saved(path: Path, picture: Image.Image, **how: Any) -> str:
    picture.save(path, **how)
    return str(path)


def turned(value: int) -> Image.Exif:
    note = Image.Exif()
    note[NOTE] = value
    return note


GRAY = Image.fromarray(RAMP)
COLOUR = GRAY.convert("RGB")
PICTURES: dict[str, tuple[str, Image.Image, dict[str, Any]]] = {
    "8 bits": ("png", GRAY, {}),
    "I;16 as PNG": ("png", Image.fromarray(WIDE), {}),
    "I;16 as TIFF": ("tiff", Image.fromarray(WIDE), {}),
    "I;16B": ("tiff", Image.fromarray(WIDE.astype(">u2")), {}),
    "I as TIFF": ("tiff", Image.fromarray(WIDE.astype(np.int32)), {}),
    "I with small values": ("tiff", Image.fromarray(RAMP.astype(np.int32)), {}),
    "I as PGM": ("pgm", Image.fromarray(WIDE.astype(np.int32)), {}),
    "I of the whole range": ("tiff", Image.fromarray((RAMP / 255 * (2**31 - 1)).astype(np.int32)), {}),
    "F from 0 to 1": ("tiff", Image.fromarray((RAMP / 255).astype(np.float32)), {}),
    "F from 0 to 255": ("tiff", Image.fromarray(RAMP.astype(np.float32)), {}),
    "F of 16 bits": ("tiff", Image.fromarray(WIDE.astype(np.float32)), {}),
    "P": ("png", GRAY.convert("P"), {}),
    "P with transparency": ("png", GRAY.convert("P"), {"transparency": 255}),
    "LA": ("png", GRAY.convert("LA"), {}),
    "RGBA": ("png", COLOUR.convert("RGBA"), {}),
    "CMYK": ("tiff", COLOUR.convert("CMYK"), {}),
    "YCbCr": ("tiff", COLOUR.convert("YCbCr"), {}),
    "LAB": ("tiff", Image.merge("LAB", (GRAY, Image.new("L", GRAY.size, 128), Image.new("L", GRAY.size, 128))), {}),
    "JPEG": ("jpg", COLOUR, {"quality": 98}),
    "WebP": ("webp", COLOUR, {"lossless": True}),
    "two frames": ("gif", GRAY, {"save_all": True, "append_images": [Image.new("L", GRAY.size)]}),
    "turned JPEG": ("jpg", COLOUR.transpose(Image.Transpose.ROTATE_90), {"quality": 98, "exif": turned(6)}),
    "turned PNG": ("png", GRAY.transpose(Image.Transpose.ROTATE_90), {"exif": turned(6)}),
    "turned WebP": ("webp", COLOUR.transpose(Image.Transpose.ROTATE_180), {"lossless": True, "exif": turned(3)}),
    "turned TIFF": ("tiff", GRAY.transpose(Image.Transpose.ROTATE_270), {"exif": turned(8)}),
    "mirrored": ("png", GRAY.transpose(Image.Transpose.FLIP_LEFT_RIGHT), {"exif": turned(2)}),
    "turned 16 bits": (
        "png",
        Image.fromarray(np.ascontiguousarray(np.rot90(WIDE))),
        {"exif": turned(6)},
    ),
    "a note that means nothing": ("png", GRAY, {"exif": turned(99)}),
}


class TestShown:
    @pytest.mark.parametrize("name", PICTURES)
    def test_equal_in_every_mode(self, tmp_path: Path, name: str) -> None:
        ending, picture, how = PICTURES[name]
        gold = saved(tmp_path / "gold.png", GRAY)
        mine = saved(tmp_path / f"mine.{ending}", picture, **how)
        other = saved(tmp_path / "other.png", Image.fromarray(255 - RAMP))
        assert same_picture(mine, gold).value == 1.0
        assert same_picture(mine, other).value == 0.0

    def test_two_of_16_bits(self, tmp_path: Path) -> None:
        """Pillow shows both as white."""
        one = saved(tmp_path / "a.png", Image.fromarray(np.full((8, 8), 20_000, np.uint16)))
        other = saved(tmp_path / "b.png", Image.fromarray(np.full((8, 8), 60_000, np.uint16)))
        assert same_picture(one, other).value == 0.0

    def test_one_transparent_value_of_16_bits(self) -> None:
        out = io.BytesIO()
        Image.fromarray(np.array([[1000, 1001]], np.uint16)).save(out, "PNG", transparency=1000)
        picture, reason = decode_picture(io.BytesIO(out.getvalue()))
        assert (reason, picture and picture.convert("RGBA").getchannel("A").tobytes()) == ("", b"\x00\xff")

    def test_what_is_no_number(self, tmp_path: Path) -> None:
        plane = np.array([[np.nan, np.inf, -np.inf, 0.5]], np.float32)
        picture, _ = read_picture(saved(tmp_path / "x.tiff", Image.fromarray(plane)))
        assert picture is not None
        assert list(picture.convert("L").tobytes()) == [0, 255, 0, 128]

    def test_a_camera_with_two_lenses(self, tmp_path: Path) -> None:
        path = saved(tmp_path / "x.jpg", COLOUR, format="MPO", save_all=True, append_images=[COLOUR])
        picture, _ = read_picture(path)
        stored, _ = read_picture(path, as_stored=True)
        assert picture is not None
        assert stored is not None
        assert (picture.format, stored.format) == ("JPEG", "MPO")

    def test_as_stored(self, tmp_path: Path) -> None:
        path = saved(tmp_path / "x.png", GRAY.transpose(Image.Transpose.ROTATE_90), exif=turned(6))
        pictures = read_picture(path)[0], read_picture(path, as_stored=True)[0]
        assert [picture and picture.size for picture in pictures] == [(60, 40), (40, 60)]
