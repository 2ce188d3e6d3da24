"""Reads a screen's text with Tesseract, in a process with a time limit."""

import io
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from backend.domain.errors import ClusterLost
from backend.domain.model.trajectory import Frame
from backend.domain.screen.pictures import decode

SECONDS = 20.0
"""A screen of 1920x1080 full of text takes 3 to 6 s."""
MOST_LINES, MOST_TEXT = 2000, 1000
_LARGE = 4 * 10**6
"""Number of pixels from which a picture is not enlarged: a screen's letters are small for Tesseract."""
_LEAST_SURE = 30.0
_HINT = "Install Tesseract (package tesseract-ocr) on the worker's machine, or run `make setup APPS=full`."
_COLUMNS = 12
_TRIAL_WORDS, _TRIAL_SIZE = "Save changes", (320, 80)
TRIAL_SECONDS = 10.0


@dataclass
class _Line:
    words: list[str] = field(default_factory=list)
    left: int = 10**9
    top: int = 10**9
    right: int = 0
    bottom: int = 0

    def add(self, word: str, box: Sequence[int]) -> None:
        self.words.append(word)
        self.left, self.top = min(self.left, box[0]), min(self.top, box[1])
        self.right, self.bottom = max(self.right, box[0] + box[2]), max(self.bottom, box[1] + box[3])


def tesseract() -> str | None:
    """Path of the program; None if it is not installed."""
    return shutil.which("tesseract")


def why_not() -> str:
    """Why OCR does not work here, determined by trying it; empty if it does. Tested once per Tesseract."""
    program = tesseract()
    if program is None:
        return "Tesseract is not installed"
    try:
        _try_out(program, Path(program).stat().st_mtime_ns)
    except ClusterLost as error:
        return error.message
    except (OSError, ValueError) as error:
        return f"{program} cannot be used: {error}"
    return ""


@lru_cache(maxsize=4)
def _try_out(program: str, _changed: int) -> None:
    """A success is remembered, a failure is not: the machine may have been busy. Raises ClusterLost."""
    lines = read(trial_picture(), seconds=TRIAL_SECONDS)
    if lines is None:
        raise ClusterLost(
            f"{program} did not read a small picture within {TRIAL_SECONDS:g} s", code="ocr_not_available"
        )
    text = " ".join(line["text"] for line in lines)
    if text != _TRIAL_WORDS:
        raise ClusterLost(f"{program} read {text[:100]!r} instead of {_TRIAL_WORDS!r}", code="ocr_not_available")


def trial_picture() -> Frame:
    """A small picture with two words."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", _TRIAL_SIZE, (245, 245, 245))
    ImageDraw.Draw(image).text((40, 25), _TRIAL_WORDS, fill=(20, 20, 20), font=ImageFont.load_default(18))
    data = io.BytesIO()
    image.save(data, "PNG")
    return Frame(data=data.getvalue(), media_type="image/png", width=_TRIAL_SIZE[0], height=_TRIAL_SIZE[1])


def read(picture: Frame, language: str = "eng", *, seconds: float = SECONDS) -> Sequence[Mapping[str, Any]] | None:
    """See `PerceptionTools.read`. Blocks for about `seconds` at most."""
    program = tesseract()
    if program is None:
        raise ClusterLost("marking text needs Tesseract, which is not installed", code="ocr_not_available", hint=_HINT)
    data, scale = _prepare(picture)
    # Sparse text: words on a screen can be anywhere.
    command = [program, "stdin", "stdout", "--psm", "11", "-l", language, "tsv"]
    variables = {"OMP_THREAD_LIMIT": "1", "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    try:
        result = subprocess.run(command, input=data, capture_output=True, timeout=seconds, check=False, env=variables)
    except subprocess.TimeoutExpired:
        return None
    if result.returncode != 0:
        words = " ".join(result.stderr.decode(errors="replace").split())[:300]
        raise ClusterLost(
            f"Tesseract cannot read {language}: {words}",
            code="ocr_not_available",
            hint=f"Install tesseract-ocr-{language}.",
        )
    return _lines(result.stdout.decode(errors="replace").splitlines(), scale)


def _prepare(frame: Frame) -> tuple[bytes, float]:
    """The picture in gray, enlarged to the best size for reading, and the scale."""
    from PIL import Image

    gray = decode(frame).convert("L")
    scale = 2.0 if gray.width * gray.height <= _LARGE else 1.0
    if scale > 1.0:
        gray = gray.resize((round(gray.width * scale), round(gray.height * scale)), Image.Resampling.BICUBIC)
    data = io.BytesIO()
    gray.save(data, "PNG", compress_level=1)
    return data.getvalue(), scale


def _lines(rows: Iterable[str], scale: float) -> list[Mapping[str, Any]]:
    """Joins words of one line. Columns: level, page, block, paragraph, line, word, box (4), confidence, text."""
    lines: dict[tuple[str, ...], _Line] = {}
    for row in rows:
        parts = row.split("\t")
        if len(parts) != _COLUMNS or parts[0] != "5" or not parts[11].strip() or float(parts[10]) < _LEAST_SURE:
            continue
        lines.setdefault(tuple(parts[1:5]), _Line()).add(parts[11].strip(), [int(part) for part in parts[6:10]])
    return [
        {
            "text": " ".join(line.words)[:MOST_TEXT],
            "bbox": [round(side / scale) for side in (line.left, line.top, line.right, line.bottom)],
        }
        for line in list(lines.values())[:MOST_LINES]
    ]
