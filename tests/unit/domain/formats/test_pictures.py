"""Pictures of every mode become the 8 bits that viewers show."""

import io
import struct
import zlib
from pathlib import Path
from typing import Any, Literal

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


def tiff(plane: "np.ndarray", sample: int, photometric: int) -> bytes:
    """A grey TIFF; Pillow writes neither samples without sign in 32 bits nor those whose white is 0."""
    height, width = plane.shape
    tags = [(256, width), (257, height), (258, plane.itemsize * 8), (259, 1), (262, photometric), (273, 8)]
    tags += [(277, 1), (278, height), (279, plane.nbytes), (339, sample)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    head = struct.pack("<2sHI", b"II", 42, 8 + plane.nbytes)
    return head + plane.tobytes() + struct.pack("<H", len(tags)) + entries + bytes(4)


def deep_tiff(plane: "np.ndarray", order: Literal["<", ">"], *, packed: bool = False, predictor: int = 1) -> bytes:
    """A TIFF of deep samples, shape (rows, columns, channels), in the byte order `<` or `>`."""
    height, width, channels = plane.shape
    size, sample = plane.itemsize, 3 if plane.dtype.kind == "f" else 1
    data = plane.astype(plane.dtype.newbyteorder(order)).tobytes()
    if predictor == 3:
        planes = plane.astype(plane.dtype.newbyteorder(">")).view(np.uint8).reshape(height, -1, size)
        planes = planes.transpose(0, 2, 1).reshape(height, -1, channels)
        data = np.diff(planes, axis=1, prepend=np.uint8(0)).tobytes()
    if predictor == 2:
        data = np.diff(plane, axis=1, prepend=plane.dtype.type(0)).astype(plane.dtype.newbyteorder(order)).tobytes()
    data = zlib.compress(data) if packed else data
    lists = struct.pack(f"{order}{2 * channels}I", *[8 * size] * channels, *[sample] * channels)
    tags = [(256, 1, width), (257, 1, height), (258, channels, 8), (259, 1, 8 if packed else 1)]
    tags += [(262, 1, 2 if channels > 2 else 1), (273, 1, 8 + len(lists)), (277, 1, channels), (278, 1, height)]
    tags += [(279, 1, len(data)), (317, 1, predictor), (339, channels, 8 + 4 * channels)]
    inline = {258: 8 * size, 339: sample} if channels == 1 else {}
    entries = b"".join(struct.pack(f"{order}HHII", tag, 4, n, inline.get(tag, value)) for tag, n, value in tags)
    head = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(f"{order}I", 8 + len(lists) + len(data))
    return head + lists + data + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)


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

    @pytest.mark.parametrize(
        ("plane", "sample", "white_is_zero"),
        [
            (65535 - WIDE, 1, True),
            ((1 - RAMP / 255).astype(np.float32), 3, True),
            (RAMP.astype(np.uint32) * 0x01010101, 1, False),
            (RAMP.astype(np.uint32), 1, False),
        ],
        ids=["white is 0", "white is 0.0", "32 bits without sign", "small values"],
    )
    def test_kinds_of_tiff(self, tmp_path: Path, plane: "np.ndarray", sample: int, white_is_zero: bool) -> None:  # noqa: FBT001 - a parameter.
        mine = tmp_path / "a.tiff"
        mine.write_bytes(tiff(plane, sample, int(not white_is_zero)))
        assert same_picture(str(mine), saved(tmp_path / "b.png", GRAY)).value == 1

    @pytest.mark.parametrize("channels", [1, 2, 3, 4])
    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.uint16, np.uint32])
    def test_deep_tiff(self, kind: Any, channels: int) -> None:
        whole = np.issubdtype(kind, np.integer)
        shares = np.stack([np.roll(RAMP, channel, 1) for channel in range(channels)], axis=2) / 255.0
        plane = np.rint(shares * np.iinfo(kind).max).astype(kind) if whole else shares.astype(kind)
        cases: list[tuple[Literal["<", ">"], bool, int]] = [
            ("<", False, 1),
            (">", False, 1),
            ("<", True, 2 if whole else 3),
            (">", True, 1),
        ]
        for order, packed, predictor in cases:
            picture, reason = decode_picture(io.BytesIO(deep_tiff(plane, order, packed=packed, predictor=predictor)))
            assert (reason, picture and picture.format) == ("", "TIFF"), (order, packed)
            shown = np.asarray(picture).reshape(plane.shape)
            assert np.abs(shown - shares * 255).max() <= 1, (order, packed)

    def test_deep_tiff_that_is_damaged_or_too_large(self) -> None:
        data, entry = deep_tiff(np.zeros((4, 4, 3), np.float16), "<"), struct.pack("<HHII", 256, 4, 1, 4)
        assert decode_picture(io.BytesIO(data), as_stored=True)[0] is None
        assert all(decode_picture(io.BytesIO(data[:end]))[0] is None for end in range(0, data.index(entry), 7))
        huge = data.replace(entry, struct.pack("<HHII", 256, 4, 1, 2**31))
        assert decode_picture(io.BytesIO(huge))[0] is None

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
