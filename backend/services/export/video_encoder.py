"""MP4 of recorded screens, by the ffmpeg program: one picture a step, with pointer marks and a caption.

ffmpeg gets plain pixels only; what a guest sent is decoded by Pillow, within its limits.
"""

import io
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shutil import which
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.domain.errors import Conflict, Unavailable
from backend.services.runs.action_description import action_words, pointer_path

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS_PER_STEP = 1.0
MOST_WIDTH = 1280
MOST_STEPS = 2_000
MOST_SECONDS = 180.0
MOST_BYTES = 100_000_000
_RATE = "4"
"""Pictures a second of the file: players seek badly in files with fewer."""
_BAR, _LETTERS, _MOST_CAPTION = 32, 16, 140
_RING = 14


class VideoStep(NamedTuple):
    """A step with its screen.

    Attributes:
        number: from 0.
        actions: as stored, with coordinates in the screen's pixels.
        frame: hash of the screen before them; None if it was not recorded.
    """

    number: int
    actions: Sequence[Mapping[str, Any]]
    frame: str | None


def available() -> bool:
    """Whether the ffmpeg program is installed."""
    return which("ffmpeg") is not None


def encode(steps: Iterable[tuple[VideoStep, bytes | None]]) -> bytes:
    """The MP4 (H.264, without sound), one second a step.

    Args:
        steps: each with the bytes of its screen. Steps without a readable one keep the screen before.

    Raises:
        Conflict: there is no ffmpeg, no screen, or the file is too large.
        Unavailable: ffmpeg failed or took too long.
    """
    program = which("ffmpeg")
    if program is None:
        hint = "Install ffmpeg on the machine of the service."
        raise Conflict("Videos need the program ffmpeg, which is not installed.", code="ffmpeg_missing", hint=hint)
    with tempfile.TemporaryDirectory(prefix="video-") as folder:
        target = Path(folder) / "video.mp4"
        _write(program, target, steps)
        data = target.read_bytes()
    if len(data) >= MOST_BYTES:
        raise Conflict(f"The video is larger than {MOST_BYTES // 10**6} MB.", code="video_too_large")
    return data


def _write(program: str, target: Path, steps: Iterable[tuple[VideoStep, bytes | None]]) -> None:
    process, timer, last_picture = None, None, None
    try:
        for step, data in steps:
            last_picture = _decode(data) or last_picture
            if last_picture is None:
                continue
            if process is None:
                size = _size(last_picture)
                process = subprocess.Popen(
                    _command(program, size, target), stdin=subprocess.PIPE, stderr=subprocess.PIPE
                )
                timer = Timer(MOST_SECONDS, process.kill)
                timer.start()
            _send(process, _draw(last_picture, step, size).tobytes())
        if process is None:
            raise Conflict("This attempt has no screenshots.", code="video_without_screens")
        _finish(process)
    finally:
        if timer is not None:
            timer.cancel()
        if process is not None and process.poll() is None:
            process.kill()
            process.communicate()


def _send(process: subprocess.Popen[bytes], pixels: bytes) -> None:
    if process.stdin is None:
        raise TypeError("the process has no standard input")
    try:
        process.stdin.write(pixels)
    except BrokenPipeError:
        _finish(process)


def _finish(process: subprocess.Popen[bytes]) -> None:
    """Raises Unavailable if it failed or was stopped by the timer."""
    _, words = process.communicate()
    if process.returncode:
        reason = words.decode(errors="replace").strip()[-200:] or f"it took longer than {MOST_SECONDS:.0f} s"
        raise Unavailable(f"The video could not be created: {reason}", code="video_failed")


def _command(program: str, size: tuple[int, int], target: Path) -> list[str]:
    pixels = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}")
    coded = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "28", "-pix_fmt", "yuv420p", "-threads", "1")
    bounds = ("-movflags", "+faststart", "-fs", str(MOST_BYTES))
    read = ("-framerate", str(1 / SECONDS_PER_STEP), "-i", "pipe:0")
    return [program, "-loglevel", "error", *pixels, *read, "-an", "-r", _RATE, *coded, *bounds, str(target)]


def _decode(data: bytes | None) -> "Image | None":
    from PIL import Image

    if data is None:
        return None
    try:
        return Image.open(io.BytesIO(data), formats=("JPEG", "PNG")).convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _size(screen: "Image") -> tuple[int, int]:
    """Of the video: even, with the bar for captions."""
    factor = min(1.0, MOST_WIDTH / screen.width)
    width, height = round(screen.width * factor / 2) * 2, round(screen.height * factor / 2) * 2
    return max(width, 2), max(height, 2) + _BAR


def _draw(screen: "Image", step: VideoStep, size: tuple[int, int]) -> "Image":
    from PIL import Image, ImageDraw, ImageFont

    width, height = size[0], size[1] - _BAR
    factor = min(width / screen.width, height / screen.height)
    part = screen.resize((max(1, round(screen.width * factor)), max(1, round(screen.height * factor))))
    canvas = Image.new("RGB", size, "black")
    canvas.paste(part, (0, 0))
    pen = ImageDraw.Draw(canvas)
    for mark in pointer_path(list(step.actions)):
        x, y = mark["x"] * factor, mark["y"] * factor
        for radius, colour in ((_RING + 1, "white"), (_RING, "#d33f00")):
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=colour, width=2)
    words = "; ".join(map(action_words, step.actions)) or "no action"
    caption = " ".join(f"Step {step.number}: {words}".split())[:_MOST_CAPTION]
    pen.text((8, height + 6), caption, fill="white", font=ImageFont.load_default(_LETTERS))
    return canvas
