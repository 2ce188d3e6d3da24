"""Pictures, pointer and stillness."""

import io
import signal
import time

import pytest
from PIL import Image

from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop


def picture(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


class TestScreenshot:
    def test_png_of_the_whole_screen(self, clean: RunningSession) -> None:
        response = clean.get("/screenshot")
        assert response.headers["content-type"] == "image/png"
        assert picture(response.content).size == (1280, 800)

    def test_shows_the_pointer(self, clean: RunningSession) -> None:
        seen = []
        for x in (300, 700):
            clean.input({"type": "move", "x": x, "y": 400})
            image = picture(clean.get("/screenshot").content)
            seen.append([len(image.crop((c - 15, 385, c + 25, 425)).getcolors() or []) for c in (300, 700)])
        (here, there), (left, arrived) = seen
        assert here > 1
        assert arrived > 1
        assert there == left == 1

    def test_shows_what_was_drawn_before(self, clean: RunningSession) -> None:
        """A request that was carried out before the picture is in the picture, without any wait."""
        clean.desktop.execute(["xsetroot", "-solid", "#ff0000"])
        assert picture(clean.get("/screenshot").content).getpixel((5, 5)) == (255, 0, 0)
        clean.desktop.execute(["xsetroot", "-solid", "#2e5d7d"])
        assert picture(clean.get("/screenshot").content).getpixel((5, 5)) == (0x2E, 0x5D, 0x7D)


class TestFrame:
    def test_jpeg_with_its_size(self, session: RunningSession) -> None:
        response = session.get("/frame", quality=50)
        assert response.headers["content-type"] == "image/jpeg"
        assert (response.headers["x-width"], response.headers["x-height"]) == ("1280", "800")
        assert picture(response.content).size == (1280, 800)

    def test_lower_quality_gives_smaller_frames(self, clean: RunningSession) -> None:
        clean.edit("quality.txt", "words " * 400)
        sizes = [len(clean.get("/frame", quality=quality).content) for quality in (10, 90)]
        assert sizes[0] < sizes[1]

    @pytest.mark.parametrize("quality", ["0", "101", "best"])
    def test_a_wrong_quality(self, session: RunningSession, quality: str) -> None:
        response = session.http.get("/frame", params={"quality": quality})
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")


class TestScreenSize:
    def test_screen_size_is_reported(self, session: RunningSession) -> None:
        assert session.post("/screen_size").json() == {"width": 1280, "height": 800}


class TestCursorPosition:
    def test_where_it_was_moved(self, session: RunningSession) -> None:
        session.input({"type": "move", "x": 123, "y": 45})
        assert session.get("/cursor_position").json() == [123, 45]


class TestStable:
    def test_a_still_screen_takes_as_long_as_asked(self, clean: RunningSession) -> None:
        reply = clean.get("/stable", quiet=0.3, timeout=5).json()
        assert reply["stable"] is True
        assert 0.3 <= reply["elapsed"] < 5

    def test_waits_for_the_end_of_a_movement(self, clean: RunningSession) -> None:
        """Something is drawn every tenth of a second, for three seconds."""
        loop = 'for i in $(seq 20 49); do xsetroot -solid "#0000$i"; sleep 0.1; done'
        before = picture(clean.get("/frame").content).getpixel((5, 5))
        clean.desktop.launch(loop, shell=True)  # noqa: S604
        wait(lambda: picture(clean.get("/frame").content).getpixel((5, 5)) != before, "the first colour")
        # A busy machine may also draw late.
        reply = clean.get("/stable", quiet=0.8, timeout=20).json()
        assert reply["stable"] is True
        assert reply["elapsed"] > 1.2
        assert not clean.processes("xsetroot -solid")

    def test_says_when_it_does_not_come_to_rest(self, clean: RunningSession) -> None:
        loop = "while true; do xsetroot -solid '#111111'; xsetroot -solid '#222222'; done"
        clean.desktop.launch(f"timeout 20 sh -c {loop!r}", shell=True)  # noqa: S604
        before = picture(clean.get("/frame").content).getpixel((5, 5))
        wait(lambda: picture(clean.get("/frame").content).getpixel((5, 5)) != before, "the first change")
        start = time.monotonic()
        reply = clean.get("/stable", quiet=0.5, timeout=1).json()
        assert reply["stable"] is False
        assert 0.9 < time.monotonic() - start < 15
        clean.signal_own(signal.SIGTERM, "while true")
