"""Activity of a screen, by drawn pictures."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from backend.domain.model.trajectory import Frame
from tests.fakes.clock import FakeClock
from worker.activity import ScreenState, ScreenWatch
from worker.activity.screen import MOST_TEXT, printable
from worker.perception import ocr

SIZE = (720, 400)


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def console(*lines: str, cursor: bool = False) -> bytes:
    """A screen of text as a kernel writes it."""
    image = Image.new("RGB", SIZE)
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(16)
    for row, line in enumerate(lines):
        draw.text((0, 20 * row), line, font=font, fill="#aaaaaa")
    if cursor:
        bottom = 20 * len(lines) + 14
        draw.rectangle((0, bottom, 8, bottom + 1), fill="#aaaaaa")
    return png(image)


class Shown:
    """A watch over what `data` is, by a clock of ours."""

    def __init__(self) -> None:
        self.data, self.clock = b"", FakeClock()
        self.watch = ScreenWatch(lambda: self.data, now=self.clock.now)

    def look(self, data: bytes, *, after: float = 0.0) -> tuple[ScreenState | None, float]:
        self.data = data
        self.clock.sleep(after)
        look = self.watch.look()
        return (look.state, look.still) if look is not None else (None, 0.0)


class TestLook:
    def test_reports_changes_since_the_last_look(self) -> None:
        shown = Shown()
        assert shown.look(png(Image.new("RGB", SIZE, "black"))) == (ScreenState.BLANK, 0)
        assert shown.look(console("SeaBIOS")) == (ScreenState.CHANGED, 0)
        assert shown.look(console("SeaBIOS"), after=7) == (ScreenState.STILL, 7)
        assert shown.look(console("SeaBIOS", "Booting"), after=3) == (ScreenState.CHANGED, 0)

    def test_the_first_picture_has_no_other_to_differ_from(self) -> None:
        assert Shown().look(console("SeaBIOS")) == (ScreenState.FIRST, 0)

    def test_a_cursor_that_blinks_changes_nothing(self) -> None:
        shown = Shown()
        assert shown.look(console(cursor=True))[0] is ScreenState.BLANK
        shown.look(console("login:"))
        assert shown.look(console("login:", cursor=True), after=4) == (ScreenState.STILL, 4)

    def test_new_screen_size_is_a_change(self) -> None:
        shown = Shown()
        shown.look(console("SeaBIOS"))
        image = Image.new("RGB", (1280, 800), "navy")
        image.paste("white", (100, 100, 400, 400))
        assert shown.look(png(image))[0] is ScreenState.CHANGED

    @pytest.mark.parametrize("data", [b"", b"no picture", console("SeaBIOS")[:200]])
    def test_invalid_pictures_are_none(self, data: bytes) -> None:
        assert Shown().look(data) == (None, 0)

    def test_the_picture_is_encoded_again(self) -> None:
        shown = Shown()
        shown.data = console("SeaBIOS") + b"what a guest hid behind it"
        look = shown.watch.look()
        assert look is not None
        assert b"hid behind" not in look.png
        assert Image.open(io.BytesIO(look.png)).size == SIZE


@pytest.mark.skipif(ocr.tesseract() is None, reason="needs Tesseract: apt install tesseract-ocr")
class TestText:
    def test_is_the_end_of_a_console(self) -> None:
        shown = Shown()
        shown.data = console(*["a line that is long gone"] * 5, "Kernel panic - not syncing", cursor=True)
        look = shown.watch.look()
        assert look is not None
        assert "Kernel panic" in look.text
        assert "Kernel panic" in look.words()

    def test_ocr_that_timed_out_is_retried(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read, readings = ocr.read, []

        def read_from_the_second(picture: Frame, *, seconds: float) -> Sequence[Mapping[str, Any]] | None:
            readings.append(picture)
            return read(picture, seconds=seconds) if len(readings) > 1 else None

        monkeypatch.setattr(ocr, "read", read_from_the_second)
        shown = Shown()
        shown.data = console("Kernel panic - not syncing")
        first, second = shown.watch.look(), shown.watch.look()
        assert first is not None
        assert second is not None
        assert first.text == ""
        assert (second.state, "Kernel panic" in second.text) == (ScreenState.STILL, True)

    def test_graphical_desktop_is_not_read_by_ocr(self) -> None:
        shown, image = Shown(), Image.new("RGB", SIZE, "white")
        ImageDraw.Draw(image).text((0, 0), "File Edit View", font=ImageFont.load_default(16), fill="black")
        shown.data = png(image)
        look = shown.watch.look()
        assert look is not None
        assert look.text == ""


class TestPrintable:
    def test_removes_terminal_escape_sequences(self) -> None:
        text = printable("\x1b[2J\x1b]0;title\x07 root\u202e\r\nlogin:\x00")
        assert text.isprintable()
        assert text == "[2J ]0;title root login:"

    def test_long_text_is_truncated(self) -> None:
        assert len(printable("a" * 10**6)) == MOST_TEXT
