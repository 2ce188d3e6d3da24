"""A machine's screen as text. A guest draws it, so it is not trusted."""

import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from backend.domain.errors import DeskarenaError
from backend.domain.model.trajectory import Frame
from worker.perception import ocr

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_TEXT = 100
_MOST_PIXELS = 64 * 10**6
_LEAST_SHARE = 0.0005
"""Share of all pixels. A blinking cursor is below it, a line of text above."""
_CONTRAST = 24
_DARK = 64
_CURSOR_PIXELS = 10
_LINE_PIXELS = 36
"""Height of the part of a text screen that is read: its last two lines."""
_MARGIN = 8
_OCR_SECONDS = 5.0


class ScreenState(StrEnum):
    """How a picture of the screen differs from the previous one."""

    BLANK = "blank"
    FIRST = "first"
    CHANGED = "changed"
    STILL = "still"


@dataclass(frozen=True)
class ScreenSample:
    """One sample of the screen.

    Attributes:
        png: the picture, re-encoded by us.
        still: seconds without a change.
        text: the last lines of a text screen, printable and bounded; empty if none can be read.
    """

    state: ScreenState
    png: bytes
    still: float
    text: str = ""

    def words(self) -> str:
        """As text, for example `the screen has changed: "Reached target Basic System"`."""
        words = {
            ScreenState.BLANK: f"the screen has been blank for {self.still:.0f} s",
            ScreenState.FIRST: "the screen shows" if self.text else "the screen shows a picture",
            ScreenState.CHANGED: "the screen has changed",
            ScreenState.STILL: f"the screen has not changed for {self.still:.0f} s",
        }[self.state]
        return f'{words}: "{self.text}"' if self.text else words


class ScreenWatch:
    """Samples the screen of one machine. Thread-safe."""

    def __init__(self, take: Callable[[], bytes], *, now: Callable[[], float] = time.monotonic) -> None:
        """Does not sample yet.

        Args:
            take: returns a picture as PNG, empty if there is none; never raises.
            now: monotonic clock.
        """
        self._take, self._now, self._lock = take, now, Lock()
        self._picture: Image | None = None
        self._changed_at = 0.0
        self._text: str | None = ""

    def look(self) -> ScreenSample | None:
        """Samples the screen; None if there is no picture."""
        with self._lock:
            picture = decoded_png(self._take())
            return None if picture is None else self._judge_picture(picture)

    def _judge_picture(self, picture: "Image") -> ScreenSample:
        before, self._picture = self._picture, picture
        first, changed = before is None, before is None or _differ(before, picture)
        if changed:
            self._changed_at = self._now()
        if changed or self._text is None:
            self._text = "" if _is_blank(picture) else _last_lines(picture)
        if _is_blank(picture):
            state = ScreenState.BLANK
        elif first:
            state = ScreenState.FIRST
        else:
            state = ScreenState.CHANGED if changed else ScreenState.STILL
        out = io.BytesIO()
        picture.save(out, "PNG", compress_level=1)
        return ScreenSample(state, out.getvalue(), self._now() - self._changed_at, self._text or "")


def decoded_png(data: bytes) -> "Image | None":
    """A picture by QEMU as RGB; None if it is invalid or far too large."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
            return picture.convert("RGB") if picture.width * picture.height <= _MOST_PIXELS else None
    except (OSError, SyntaxError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return None


def printable(text: str, most: int = MOST_TEXT) -> str:
    """One line of a guest's text without control characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: most * 4]).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def _differ(before: "Image", after: "Image") -> bool:
    from PIL import ImageChops

    if before.size != after.size:
        return True
    return _share(ImageChops.difference(before, after).convert("L"), 0) > _LEAST_SHARE


def _is_blank(picture: "Image") -> bool:
    gray = picture.convert("L")
    return _share(gray, _background(gray)) <= _LEAST_SHARE


def _background(gray: "Image") -> int:
    """The most frequent gray value."""
    counts = gray.histogram()
    return counts.index(max(counts))


def _share(gray: "Image", background: int) -> float:
    """Share of the pixels that differ from the background."""
    counts = gray.histogram()
    near = sum(counts[max(0, background - _CONTRAST) : background + _CONTRAST + 1])
    return 1.0 - near / sum(counts)


def _last_lines(picture: "Image") -> str | None:
    """Last lines of a text console: light letters on a dark background. Empty otherwise, and without Tesseract.

    None if a busy host could not read it in time.
    """
    gray = picture.convert("L")
    if ocr.tesseract() is None or _background(gray) > _DARK:
        return ""
    bottom = _lowest_text(gray)
    strip = picture.crop((-_MARGIN, bottom - _LINE_PIXELS, picture.width + _MARGIN, bottom + _MARGIN))
    out = io.BytesIO()
    strip.save(out, "PNG")
    frame = Frame(data=out.getvalue(), media_type="image/png", width=strip.width, height=strip.height)
    try:
        lines = ocr.read(frame, seconds=_OCR_SECONDS)
    except DeskarenaError:
        return ""
    if lines is None:
        return None
    return printable(" ".join(str(line["text"]) for line in sorted(lines, key=lambda line: int(line["bbox"][1]))))


def _lowest_text(gray: "Image") -> int:
    """The lowest row of pixels that has letters, and more than a cursor."""
    from PIL import Image

    light = gray.point(lambda level: 255 if level > _DARK + _CONTRAST else 0)
    rows = light.resize((1, gray.height), Image.Resampling.BOX).tobytes()
    return max((row for row, share in enumerate(rows) if share * gray.width > _CURSOR_PIXELS * 255), default=0)
