"""Pictures of every mode become the 8 bits that viewers show."""

import io
import itertools
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
"""Content of each picture, in grey."""
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


def deep_tiff(  # noqa: PLR0913 - ways to store it.
    plane: "np.ndarray",
    order: Literal["<", ">"],
    *,
    packed: bool = False,
    predictor: int = 1,
    apart: bool = False,
    tile: tuple[int, int] | None = None,
) -> bytes:
    """A TIFF of deep samples, shape (rows, columns, channels), in the byte order `<` or `>`.

    Args:
        plane: the samples.
        order: of the bytes.
        packed: compressed.
        predictor: 2 stores differences, 3 those of bytes of floating point.
        apart: each channel is stored by itself.
        tile: rows and columns of a tile, in place of one strip.
    """
    height, width, channels = plane.shape
    size, sample = plane.itemsize, 3 if plane.dtype.kind == "f" else 1
    parts = [plane[..., channel : channel + 1] for channel in range(channels)] if apart else [plane]
    pieces = [piece for part in parts for piece in ([part] if tile is None else tiles(part, *tile))]
    stored = [piece_bytes(piece, order, predictor) for piece in pieces]
    stored = [zlib.compress(data) for data in stored] if packed else stored
    counts = [len(data) for data in stored]
    starts = [8 + sum(counts[:place]) for place in range(len(counts))]
    shape = (
        {322: [tile[1]], 323: [tile[0]], 324: starts, 325: counts}
        if tile
        else {273: starts, 278: [height], 279: counts}
    )
    tags = {256: [width], 257: [height], 258: [8 * size] * channels, 259: [8 if packed else 1]}
    tags |= {262: [2 if channels > 2 else 1], 277: [channels], 284: [2 if apart else 1], 317: [predictor]}
    tags |= {339: [sample] * channels, **shape}
    data, entries = b"".join(stored), b""
    for tag, values in sorted(tags.items()):
        value = struct.pack(f"{order}{len(values)}I", *values)
        if len(values) > 1:
            value, data = struct.pack(f"{order}I", 8 + len(data)), data + value
        entries += struct.pack(f"{order}HHI", tag, 4, len(values)) + value
    head = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(f"{order}I", 8 + len(data))
    return head + data + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)


def png(bits: int, kind: int, row: bytes, transparent: tuple[int, ...]) -> bytes:
    """A PNG of one line of four pixels, of which one color is transparent."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 4, 1, bits, kind, 0, 0, 0)
    chunks = (b"IHDR", header), (b"tRNS", struct.pack(f">{len(transparent)}H", *transparent))
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            *itertools.starmap(chunk, chunks),
            chunk(b"IDAT", zlib.compress(b"\0" + row)),
            chunk(b"IEND", b""),
        ]
    )


def tiles(plane: "np.ndarray", rows: int, columns: int) -> list["np.ndarray"]:
    """The plane in tiles, those at its edges filled up."""
    height, width, _ = plane.shape
    full = np.pad(plane, ((0, -height % rows), (0, -width % columns), (0, 0)), mode="edge")
    places = [(row, column) for row in range(0, height, rows) for column in range(0, width, columns)]
    return [full[row : row + rows, column : column + columns] for row, column in places]


def piece_bytes(piece: "np.ndarray", order: Literal["<", ">"], predictor: int) -> bytes:
    """A strip or tile as stored, before compression."""
    height, _, channels = piece.shape
    if predictor == 3:
        planes = piece.astype(piece.dtype.newbyteorder(">"), order="C").view(np.uint8)
        planes = planes.reshape(height, -1, piece.itemsize).transpose(0, 2, 1).reshape(height, -1, channels)
        return np.diff(planes, axis=1, prepend=np.uint8(0)).tobytes()
    values = np.diff(piece, axis=1, prepend=piece.dtype.type(0)) if predictor == 2 else piece
    return values.astype(piece.dtype.newbyteorder(order)).tobytes()


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
    @pytest.mark.parametrize("kind", [np.uint8, np.float16, np.float32, np.float64, np.uint16, np.uint32])
    def test_deep_tiff(self, kind: Any, channels: int) -> None:
        whole = np.issubdtype(kind, np.integer)
        shares = np.stack([np.roll(RAMP, channel, 1) for channel in range(channels)], axis=2) / 255.0
        plane = np.rint(shares * np.iinfo(kind).max).astype(kind) if whole else shares.astype(kind)
        orders: tuple[Literal["<", ">"], ...] = ("<", ">")
        packings = ((False, 1), (True, 1), (True, 2 if whole else 3))
        stored = itertools.product(orders, packings, (False, True), (None, (16, 32)))
        for order, (packed, predictor), apart, tile in stored:
            made = deep_tiff(plane, order, packed=packed, predictor=predictor, apart=apart, tile=tile)
            picture, reason = decode_picture(io.BytesIO(made))
            case = (order, packed, predictor, apart, tile)
            assert (reason, picture and picture.format) == ("", "TIFF"), case
            shown = np.asarray(picture).reshape(plane.shape)
            assert np.abs(shown - shares * 255).max() <= 1, case

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

    @pytest.mark.parametrize(
        ("bits", "kind", "row", "transparent", "alpha"),
        [
            (16, 2, struct.pack(">12H", 65535, 0, 0, 65534, 0, 0, 0, 65535, 0, 1, 2, 3), (65535, 0, 0), "0111"),
            (16, 2, struct.pack(">12H", 65535, 0, 0, 65534, 0, 0, 0, 65535, 0, 257, 514, 771), (257, 514, 771), "1110"),
            (16, 2, struct.pack(">12H", *[9] * 12), (10, 9, 9), "1111"),
            (8, 2, bytes([255, 0, 0, 254, 0, 0, 0, 255, 0, 1, 2, 3]), (254, 0, 0), "1011"),
            (16, 0, struct.pack(">4H", 65535, 0, 256, 257), (257,), "1110"),
            (8, 0, bytes([1, 2, 3, 255]), (3,), "1101"),
            (4, 0, bytes([0x0F, 0x70]), (15,), "1011"),
            (4, 0, bytes([0x0F, 0x70]), (7,), "1101"),
            (2, 0, bytes([0b00011011]), (1,), "1011"),
            (2, 0, bytes([0b00011011]), (3,), "1110"),
            (1, 0, bytes([0b01010000]), (1,), "1010"),
            (1, 0, bytes([0b01010000]), (0,), "0101"),
        ],
    )
    def test_one_transparent_color(
        self, bits: int, kind: int, row: bytes, transparent: tuple[int, ...], alpha: str
    ) -> None:
        """Four pixels of a PNG whose samples have this many bits, grey (0) or in color (2)."""
        picture, reason = decode_picture(io.BytesIO(png(bits, kind, row, transparent)))
        assert picture is not None, reason
        shown = picture.convert("RGBA").getchannel("A").tobytes()
        assert ["01"[value == 255] for value in shown if value in {0, 255}] == list(alpha)
        assert picture.format == "PNG"

    def test_values_that_are_not_finite(self, tmp_path: Path) -> None:
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
