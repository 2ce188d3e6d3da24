"""Video files written by tests: a square that wanders over a patterned ground."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

CODECS = {".mp4": "mp4v", ".avi": "MJPG", ".mkv": "mp4v"}
SIZE = (160, 120)


def frames(count: int, seed: int = 1, size: tuple[int, int] = SIZE) -> list[Any]:
    """BGR pictures; another seed is another ground and another way."""
    width, height = size
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 255, (6, 8, 3), dtype=np.uint8)
    ground = cv2.resize(coarse, size, interpolation=cv2.INTER_CUBIC)
    pictures = []
    for number in range(count):
        picture = ground.copy()
        left, top = (number * (3 + seed)) % (width - 30), (number * 2) % (height - 30)
        picture[top : top + 30, left : left + 30] = (40 * seed % 255, 200, 255 - 30 * seed % 255)
        pictures.append(picture)
    return pictures


def video(path: Path, pictures: Iterable[Any], size: tuple[int, int] = SIZE) -> str:
    """Writes the pictures, 10 a second, in the format of the file name; returns the path."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*CODECS[path.suffix]), 10, size)
    for picture in pictures:
        writer.write(picture)
    writer.release()
    return str(path)
