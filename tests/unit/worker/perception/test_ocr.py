import io
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from backend.domain.errors import ClusterLost
from backend.domain.model.trajectory import Frame
from tests.error_codes import raises_code
from worker.perception import ocr
from worker.perception.ocr import read, why_not

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

    def test_empty_screen_has_no_text(self) -> None:
        out = io.BytesIO()
        Image.new("RGB", (320, 240), (10, 10, 10)).save(out, "PNG")
        assert read(Frame(data=out.getvalue(), media_type="image/png", width=320, height=240)) == []

    def test_gives_up_in_time(self, picture: Frame) -> None:
        assert read(picture, seconds=0.001) is None

    def test_missing_language_is_reported(self, picture: Frame) -> None:
        with raises_code(ClusterLost, "ocr_not_available", mentions="Tesseract") as raised:
            read(picture, "tlh")
        assert "tesseract-ocr-tlh" in raised.value.hint

    def test_missing_tesseract_is_reported(self, picture: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with raises_code(ClusterLost, "ocr_not_available") as raised:
            read(picture)
        assert "tesseract-ocr" in raised.value.hint


@pytest.fixture
def bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Tesseract that a test writes."""
    program = tmp_path / "tesseract"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def install(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


class TestWhyNot:
    def test_working_tesseract_passes(self) -> None:
        assert why_not() == ""

    def test_tesseract_that_reads_nothing_is_reported(self, bad: Path) -> None:
        install(bad, "cat > /dev/null")
        assert f"{bad} read ''" in why_not()

    def test_tesseract_that_misreads_is_reported(self, bad: Path) -> None:
        words = "5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t9\\t9\\t95\\tNonsense"
        install(bad, f"cat > /dev/null; printf '{words}\\n'")
        assert "read 'Nonsense' instead of 'Save changes'" in why_not()

    def test_missing_language_data_is_reported(self, bad: Path) -> None:
        install(bad, "cat > /dev/null; echo 'Error opening data file eng.traineddata' >&2; exit 1")
        assert "Error opening data file" in why_not()

    def test_unstartable_tesseract_is_reported(self, bad: Path) -> None:
        bad.write_text("no program")
        bad.chmod(0o755)
        assert "cannot be used" in why_not()

    def test_hanging_tesseract_is_reported(self, bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ocr, "TRIAL_SECONDS", 0.2)
        install(bad, "exec sleep 60")
        assert "did not read a small picture within 0.2 s" in why_not()

    def test_repaired_tesseract_is_tried_again(self, bad: Path) -> None:
        install(bad, "exit 1")
        assert why_not() != ""
        real = shutil.which("tesseract", path="/usr/bin:/bin")
        install(bad, f'exec {real} "$@"')
        assert why_not() == ""

    def test_missing_tesseract_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        assert why_not() == "Tesseract is not installed"
