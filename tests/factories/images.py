"""Pictures as a picture editor writes them, made with numpy and Pillow."""

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

Plane = np.ndarray[Any, np.dtype[Any]]
MOST_SIDE = 7744
"""Pixels of the longest side of a photograph."""


def scene(size: tuple[int, int] = (96, 64), seed: int = 0) -> Image.Image:
    """A colourful picture with areas, edges and some texture, whose halves differ; RGB."""
    rows, columns = np.mgrid[0 : size[1], 0 : size[0]]
    plane = np.empty((size[1], size[0], 3))
    plane[..., 0] = 90 + 70 * np.sin(columns / 9.0 + seed)
    plane[..., 1] = 100 + 60 * np.cos(rows / 7.0 + columns / 31.0)
    plane[..., 2] = 70 + 50 * columns / size[0]
    plane += np.random.default_rng(seed).normal(0, 4, plane.shape)
    picture = Image.fromarray(plane.clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    draw.ellipse([size[0] // 8, size[1] // 6, size[0] // 3, size[1] // 2], fill=(200, 60, 40))
    draw.rectangle([size[0] // 2, size[1] // 3, size[0] // 2 + size[0] // 5, size[1] * 4 // 5], fill=(40, 90, 180))
    return picture


def save(picture: Image.Image, path: Path, **options: Any) -> str:
    """Saves by the path's ending; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, **options)
    return str(path)


def brighter(picture: Image.Image, factor: float) -> Image.Image:
    """All values times a factor; below 1 it is darker."""
    return picture.point(lambda value: min(255, round(value * factor)))


def vivid(picture: Image.Image, factor: float) -> Image.Image:
    """The saturation times a factor."""
    from PIL import ImageEnhance

    return ImageEnhance.Color(picture).enhance(factor)


def contrasted(picture: Image.Image, factor: float) -> Image.Image:
    """The distance from the mean times a factor."""
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(picture).enhance(factor)


def blurred(picture: Image.Image, radius: float = 2.0) -> Image.Image:
    """The picture out of focus."""
    from PIL import ImageFilter

    return picture.filter(ImageFilter.GaussianBlur(radius))


def triangle(
    centre: tuple[int, int], size: tuple[int, int] = (200, 120), paper: tuple[int, int, int] = (255, 255, 255)
) -> Image.Image:
    """A yellow triangle whose centre of mass lies at `centre`; two colours."""
    picture = Image.new("RGB", size, paper)
    x, y = centre
    ImageDraw.Draw(picture).polygon([(x, y - 20), (x - 18, y + 10), (x + 18, y + 10)], fill=(250, 220, 20))
    return picture


def text_at(left: int, size: tuple[int, int] = (200, 80)) -> Image.Image:
    """Black bars on white, the first at column `left`."""
    picture = Image.new("RGB", size, (255, 255, 255))
    draw = ImageDraw.Draw(picture)
    for number in range(4):
        draw.rectangle([left + 9 * number, 20, left + 9 * number + 4, 50], fill=(0, 0, 0))
    return picture


def hole(picture: Image.Image, *, hidden: tuple[int, int, int] | None = None, whole: bool = False) -> Image.Image:
    """The picture with a transparent right half; `hidden` are the colours behind it, else the picture's own."""
    cut = picture.convert("RGBA")
    plane = np.array(cut)
    half = 0 if whole else plane.shape[1] // 2
    if hidden is not None:
        plane[:, half:, :3] = hidden
    plane[:, half:, 3] = 0
    return Image.fromarray(plane)


def object_on(paper: tuple[int, int, int], size: tuple[int, int] = (60, 40)) -> Image.Image:
    """A black object on a paper."""
    picture = Image.new("RGB", size, paper)
    ImageDraw.Draw(picture).ellipse([10, 5, 30, 33], fill=(0, 0, 0))
    return picture


def noise(path: Path, size: int) -> str:
    """A PNG of about `size` bytes that cannot be packed."""
    side = max(8, int((size / 3) ** 0.5))
    plane = np.random.default_rng(size).integers(0, 256, (side, side, 3), dtype=np.uint8)
    return save(Image.fromarray(plane), path)


def photograph(path: Path, size: int) -> str:
    """A JPEG of about `size` bytes with many pixels, as a camera of at most 60 megapixels makes it."""
    path.write_bytes(_photograph(size))
    return str(path)


@cache
def _photograph(size: int) -> bytes:
    side, quality = max(32, int((size * 7) ** 0.5) // 32 * 32), 88
    if side > MOST_SIDE:
        side, quality = MOST_SIDE, 92
    plane = np.random.default_rng(size).integers(60, 200, (side // 32, side // 32, 3), dtype=np.uint8)
    smooth = Image.fromarray(plane).resize((side, side), Image.Resampling.BICUBIC)
    grain = np.random.default_rng(1).normal(0, 5, (side, side, 1))
    out = io.BytesIO()
    Image.fromarray((np.asarray(smooth) + grain).clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=quality)
    return out.getvalue()


def huge_header(path: Path) -> str:
    """A PNG that says it has 60,000 x 60,000 pixels, in a few bytes."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(1000)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + data + chunk(b"IEND", b""))
    return str(path)
