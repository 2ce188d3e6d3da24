"""Generates pictures from their description: size in pixels, size in bytes, rough content."""

import io
import re
import struct
import zlib
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

MAX_PIXELS = 4096
MAX_BYTES = 24 * 10**6
_SIZE = re.compile(r"(\d{2,4})\s*[xX×*]\s*(\d{2,4})")
_WEIGHT = re.compile(r"约\s*(\d{1,5})\s*(KB|MB)", re.IGNORECASE)
_COMMENT = 60_000  # bytes of padding in one segment of a JPEG


def picture(prompt: str, name: str, form: str, seed: str) -> bytes:
    """A picture.

    Args:
        prompt: its description: `1920x1080`, `约20MB`, `横向`, `Logo`, `风景`, `肖像`, `纯色`, ...
        name: name of the file, shown by a logo.
        form: `PNG` or `JPEG`.
        seed: seed of colours and shapes.
    """
    size = _SIZE.search(prompt)
    width, height = (max(1, min(int(group), MAX_PIXELS)) for group in size.groups()) if size else _usual(prompt)
    image = _draw(prompt, name, (width, height), Random(seed))
    # "Must be rotated clockwise": the picture is rotated the other way.
    if "旋转90度" in prompt:
        image = image.rotate(90, expand=True)
    out = io.BytesIO()
    image.save(out, form, **({"quality": 90} if form == "JPEG" else {}))
    weight = _WEIGHT.search(prompt)
    if weight is None:
        return out.getvalue()
    file_size = int(weight.group(1)) * (10**3 if weight.group(2).upper() == "KB" else 10**6)
    return _pad(out.getvalue(), min(file_size, MAX_BYTES), form, Random(f"{seed}/padding"))


def _usual(prompt: str) -> tuple[int, int]:
    if "非正方形" in prompt:
        return 900, 600
    if "图标" in prompt:
        return 64, 64
    if "高分辨率" in prompt or "大尺寸" in prompt:
        return 2400, 1600
    return 1600, 1200


def _draw(prompt: str, name: str, size: tuple[int, int], random: Random) -> "Image":
    from PIL import Image, ImageDraw

    def colour(low: int = 40, high: int = 220) -> tuple[int, int, int]:
        return (random.randint(low, high), random.randint(low, high), random.randint(low, high))

    image = Image.new("RGB", size, colour(150, 240))
    if "纯色" in prompt:
        return image
    pen = ImageDraw.Draw(image)
    if re.search(r"(?i)logo|图标|图形", prompt):
        _logo(pen, size, colour(20, 140), name)
    elif re.search(r"建筑|城市", prompt):
        _skyline(pen, size, random)
    elif re.search(r"肖像|人物|多人|活动", prompt):
        _people(pen, size, random, 5 if "多人" in prompt else 1)
    elif re.search(r"抽象|纹理|测试", prompt):
        _texture(pen, size, random)
    else:
        _landscape(pen, size, random)
    return image


def _logo(pen: "ImageDraw", size: tuple[int, int], colour: tuple[int, int, int], name: str) -> None:
    width, height = size
    pen.ellipse((width * 0.2, height * 0.15, width * 0.8, height * 0.7), fill=colour)
    pen.rectangle((width * 0.4, height * 0.3, width * 0.6, height * 0.55), fill=(255, 255, 255))
    pen.text((width * 0.3, height * 0.78), name.rsplit(".", 1)[0], fill=(20, 20, 20), font_size=max(10, height // 12))


def _landscape(pen: "ImageDraw", size: tuple[int, int], random: Random) -> None:
    width, height = size
    for row in range(0, height * 6 // 10, 4):
        pen.rectangle((0, row, width, row + 4), fill=(90 + row * 120 // height, 150 + row * 80 // height, 230))
    peaks = [(width * part // 8, height * random.randint(25, 55) // 100) for part in range(9)]
    pen.polygon([(0, height), *peaks, (width, height)], fill=(70, 100, 80))
    pen.rectangle((0, height * 7 // 10, width, height), fill=(60, 140, 70))
    pen.ellipse((width * 0.75, height * 0.08, width * 0.85, height * 0.08 + width * 0.1), fill=(255, 220, 90))


def _skyline(pen: "ImageDraw", size: tuple[int, int], random: Random) -> None:
    width, height = size
    for left in range(0, width, max(1, width // 12)):
        top = height * random.randint(25, 75) // 100
        grey = random.randint(60, 150)
        pen.rectangle((left, top, left + width // 14, height), fill=(grey, grey, grey + 20))


def _people(pen: "ImageDraw", size: tuple[int, int], random: Random, number: int) -> None:
    width, height = size
    radius = min(width, height) // (4 + number)
    for person in range(number):
        x, y = width * (person + 1) // (number + 1), height * random.randint(40, 50) // 100
        pen.ellipse((x - radius // 2, y - radius, x + radius // 2, y), fill=(230, 190, 160))
        body = (random.randint(20, 200), random.randint(20, 200), random.randint(20, 200))
        pen.rectangle((x - radius, y, x + radius, height), fill=body)


def _texture(pen: "ImageDraw", size: tuple[int, int], random: Random) -> None:
    width, height = size
    for _ in range(120):
        x, y = random.randrange(width), random.randrange(height)
        far = random.randint(10, max(11, width // 10))
        fill = (random.randint(0, 255), random.randint(0, 255), random.randint(0, 255))
        pen.ellipse((x, y, x + far, y + far), fill=fill)


def _pad(data: bytes, file_size: int, form: str, random: Random) -> bytes:
    """The same picture in a file of that size, padded by comments that viewers ignore."""
    missing = file_size - len(data)
    if form == "PNG":
        if missing < 12:  # noqa: PLR2004 - length, name and sum of a chunk
            return data
        body = b"seED" + random.randbytes(missing - 12)
        chunk = struct.pack(">I", missing - 12) + body + struct.pack(">I", zlib.crc32(body))
        return data[:-12] + chunk + data[-12:]
    out = bytearray(data[:2])
    while missing > 4:  # noqa: PLR2004 - mark and length of a segment
        part = min(missing - 4, _COMMENT)
        out += b"\xff\xfe" + struct.pack(">H", part + 2) + random.randbytes(part)
        missing -= part + 4
    return bytes(out) + data[2:]
