"""Reads the text of a picture with Tesseract (OCR)."""

import io
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.formats.pictures import on_white

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 40.0
"""Time limit in seconds for one picture. A full screen takes one or two."""
LARGE = 4 * 10**6
"""Size in pixels from which a picture is not enlarged."""
LARGEST = 10**7
"""Size in pixels from which a picture is scaled down."""
LAYOUTS = ("6", "11")
"""Tesseract's page segmentation modes: a block of text, then sparse text."""
SPARSE = LAYOUTS[1:]
"""For a screen: sparse text."""


def readings(picture: "Image", layouts: Sequence[str] = LAYOUTS) -> Iterator[str | None]:
    """Tesseract's readings, one per mode; None on timeout. White space counts as one blank.

    Screens are enlarged, because their letters are too small for Tesseract.

    Raises:
        EvaluatorFailed: Tesseract is not installed, or fails.
    """
    from PIL import Image as Pictures

    gray = on_white(picture).convert("L")
    pixels = gray.width * gray.height
    scale = 2.0 if pixels <= LARGE else min(1.0, (LARGEST / pixels) ** 0.5)
    size = (max(1, round(gray.width * scale)), max(1, round(gray.height * scale)))
    gray = gray.resize(size, Pictures.Resampling.LANCZOS)
    data = io.BytesIO()
    gray.save(data, "PNG", compress_level=1)
    for layout in layouts:
        text = _read(data.getvalue(), layout)
        yield None if text is None else " ".join(text.split())


def _read(data: bytes, layout: str) -> str | None:
    program = shutil.which("tesseract")
    if program is None:
        hint = "Install Tesseract (the package tesseract-ocr) where workers run, and score again."
        raise EvaluatorFailed(
            "reading text from a picture needs Tesseract, which is not installed", code="program_missing", hint=hint
        )
    command = [program, "stdin", "stdout", "--psm", layout, "-l", "eng"]
    variables = {"OMP_THREAD_LIMIT": "1", "PATH": os.defpath, "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS / 2, check=False, env=variables)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        raise EvaluatorFailed(f"Tesseract failed: {done.stderr.decode(errors='replace')[:200]}", code="ocr_failed")
    return done.stdout.decode(errors="replace")
