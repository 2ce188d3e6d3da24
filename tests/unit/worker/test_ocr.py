import io
import shutil

import pytest
from PIL import Image, ImageDraw, ImageFont

from backend.domain.errors import ClusterLost
from backend.domain.trajectory import Frame
from worker.ocr import read

WORDS = {(40, 30): "Monthly report", (300, 200): "Save changes", (60, 330): "Total 1984"}
pytestmark = pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs Tesseract: make setup APPS=full")


@pytest.fixture(scope="module")
def picture() -> Frame:
    image = Image.new("RGB", (640, 400), (245, 245, 245))
    pen = ImageDraw.Draw(image)
    for place, words in WORDS.items():
        pen.text(place, words, fill=(20, 20, 20), font=ImageFont.load_default(18))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return Frame(data=out.getvalue(), media_type="image/jpeg", width=640, height=400)


class TestRead:
    def test_lines_with_their_boxes(self, picture: Frame) -> None:
        found = {each["text"]: each["bbox"] for each in read(picture) or ()}
        assert set(found) == set(WORDS.values())
        for (x, y), words in WORDS.items():
            left, top, right, bottom = found[words]
            assert abs(left - x) <= 5
            assert y <= top < bottom <= y + 25
            assert 60 < right - left < 180

    def test_an_empty_screen_has_none(self) -> None:
        out = io.BytesIO()
        Image.new("RGB", (320, 240), (10, 10, 10)).save(out, "PNG")
        assert read(Frame(data=out.getvalue(), media_type="image/png", width=320, height=240)) == []

    def test_gives_up_in_time(self, picture: Frame) -> None:
        assert read(picture, seconds=0.001) is None

    def test_a_language_that_is_not_there(self, picture: Frame) -> None:
        with pytest.raises(ClusterLost, match="Tesseract") as raised:
            read(picture, "tlh")
        assert "tesseract-ocr-tlh" in raised.value.hint

    def test_no_tesseract(self, picture: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(ClusterLost, match="not installed") as raised:
            read(picture)
        assert "tesseract-ocr" in raised.value.hint
