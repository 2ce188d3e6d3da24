"""`compare_image_text`: a picture shows a text."""

import io
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.formats.pictures import on_white, read_picture
from backend.domain.evaluators.formats.xwd import is_xwd, read_xwd
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 40.0
"""For all reading. A full screen takes one or two; what takes longer is no picture of a text."""
LARGE = 4 * 10**6
"""Pixels from which on a picture is not enlarged for reading."""
LARGEST = 10**7
"""Pixels from which on it is made smaller."""
LONGEST = 30_000
"""Pixels of a side, which is near Tesseract's limit."""
_LAYOUTS = ("6", "11")
"""Tesseract's ways to look at a page: one block of text, then text here and there."""


@register(Kind.METRIC, "compare_image_text")
def compare_image_text(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """1 if the text is part of what is read from the picture.

    Read by Tesseract, upstream by EasyOCR: small or fancy letters may come out otherwise (`ls` as `1s`, say), which is
    why the published task asks for either. White space counts as one blank.

    Args:
        result: path of the picture; dumps of X windows are read, too.
        rules: `type`: `text`; `text`: what to look for.
    """
    wanted = rules.get("text")
    if rules.get("type") != "text" or not isinstance(wanted, str):
        raise EvaluatorFailed(f"a rule of type {rules.get('type')!r} with text {wanted!r} has no meaning")
    picture, reason = _picture(result)
    if picture is None:
        return verdict(met=False, reason=reason)
    if max(picture.size) > LONGEST:
        return verdict(met=False, reason=f"the picture of {picture.width}x{picture.height} is too large to be read")
    looked = []
    for text in _readings(picture):
        if text is None:
            return verdict(met=False, reason=f"the picture could not be read within {SECONDS:g} s")
        if " ".join(wanted.split()) in text:
            return verdict(met=True, reason=f"{wanted!r} is in the picture: {short(text)}")
        looked.append(short(text))
    return verdict(met=False, reason=f"{wanted!r} is not in what was read: {'; '.join(looked)}")


def _picture(path: str | None) -> tuple["Image | None", str]:
    if path is not None and Path(path).is_file() and is_xwd(path):
        return read_xwd(path)
    return read_picture(path)


def _readings(picture: "Image") -> Iterator[str | None]:
    """What Tesseract reads, in one way after the other; None when the time is over.

    Letters of a screen are too small for it: they are enlarged.
    """
    from PIL import Image as Pictures

    gray = on_white(picture).convert("L")
    pixels = gray.width * gray.height
    scale = 2.0 if pixels <= LARGE else min(1.0, (LARGEST / pixels) ** 0.5)
    size = (max(1, round(gray.width * scale)), max(1, round(gray.height * scale)))
    gray = gray.resize(size, Pictures.Resampling.LANCZOS)
    data = io.BytesIO()
    gray.save(data, "PNG", compress_level=1)
    for layout in _LAYOUTS:
        text = _read(data.getvalue(), layout)
        yield None if text is None else " ".join(text.split())


def _read(data: bytes, layout: str) -> str | None:
    program = shutil.which("tesseract")
    if program is None:
        hint = "Install Tesseract (the package tesseract-ocr) where workers run, and score again."
        raise EvaluatorFailed("reading text from a picture needs Tesseract, which is not installed", hint=hint)
    command = [program, "stdin", "stdout", "--psm", layout, "-l", "eng"]
    variables = {"OMP_THREAD_LIMIT": "1", "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS / 2, check=False, env=variables)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise EvaluatorFailed(f"Tesseract failed: {done.stderr.decode(errors='replace')[:200]}")
    return done.stdout.decode(errors="replace")
