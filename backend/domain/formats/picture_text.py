"""Reads the text of a picture with Tesseract (OCR)."""

import io
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from backend.domain.errors import EvaluatorFailed
from backend.domain.formats.pictures import on_white

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 90.0
"""Time limit in seconds for one picture, on a busy machine. A full screen takes one or two."""
PROCESSOR_SECONDS = 12
"""Limit for one reading: what takes longer is no text, whatever the machine."""
LONGEST_SIDE = 32_000
"""Pixels; Tesseract's limit is 32,767."""
NO_LANGUAGE = b"loading language"
"""Messages of Tesseract for which its installation is to blame."""
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

    Screens are enlarged, because their letters are too small for Tesseract. A picture on which it fails, or computes
    without end (noise), has no text.

    Raises:
        EvaluatorFailed: Tesseract is not installed, or killed.
    """
    from PIL import Image as Pictures

    gray = on_white(picture).convert("L")
    pixels = gray.width * gray.height
    scale = 2.0 if pixels <= LARGE else min(1.0, (LARGEST / pixels) ** 0.5)
    scale = min(scale, LONGEST_SIDE / max(gray.size))
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
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=variables) as reader:
        resource.prlimit(reader.pid, resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1))
        try:
            text, errors = reader.communicate(data, timeout=SECONDS / 2)
        except subprocess.TimeoutExpired:
            before = _cpu_seconds()
            reader.kill()
            reader.wait()
            return "" if _cpu_seconds() - before > PROCESSOR_SECONDS / 2 else None
    if reader.returncode == -signal.SIGKILL or (reader.returncode > 0 and NO_LANGUAGE in errors):
        raise EvaluatorFailed(f"Tesseract failed: {errors.decode(errors='replace')[:200]}", code="ocr_failed")
    return text.decode(errors="replace") if reader.returncode == 0 else ""


def _cpu_seconds() -> float:
    """Processor seconds of the children that have ended."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime
