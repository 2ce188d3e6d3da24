"""Types of a guest's files, by their bytes alone."""

import io
import struct

import pytest
from PIL import Image

from backend.domain.people.submissions import MOST_PIXELS, MOST_TEXT, DisplayForm, form_of, text_of


def picture(form: str, size: tuple[int, int] = (30, 20)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (10, 90, 200)).save(out, form)
    return out.getvalue()


class TestFormOf:
    def test_png_and_jpeg_are_shown_as_pictures(self) -> None:
        assert form_of(picture("PNG")) is DisplayForm.PNG
        assert form_of(picture("JPEG")) is DisplayForm.JPEG

    def test_utf_8_is_shown_as_text(self) -> None:
        assert form_of("Grüße\n".encode()) is DisplayForm.TEXT

    def test_a_long_text_that_is_cut_inside_a_letter(self) -> None:
        assert form_of(b"x" + "ü".encode() * 4 * MOST_TEXT) is DisplayForm.TEXT

    @pytest.mark.parametrize("data", [b"", b"a\x00b", b"\xff\xfe\x00", picture("GIF"), b"%PDF-1.7\n\xe2\xe3\xcf\xd3"])
    def test_everything_else_is_only_a_file(self, data: bytes) -> None:
        assert form_of(data) is DisplayForm.OTHER

    def test_drawings_that_may_hold_scripts_are_text(self) -> None:
        assert form_of(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>") is DisplayForm.TEXT

    def test_a_picture_that_claims_to_be_huge_is_not_decoded(self) -> None:
        data = bytearray(picture("PNG"))
        data[16:24] = struct.pack(">II", 60_000, 60_000)
        assert MOST_PIXELS < 60_000 * 60_000
        assert form_of(bytes(data)) is DisplayForm.OTHER

    @pytest.mark.parametrize("form", ["PNG", "JPEG"])
    def test_a_picture_that_ends_early_is_only_a_file(self, form: str) -> None:
        assert form_of(picture(form)[:12]) is DisplayForm.OTHER

    def test_a_jpeg_whose_segments_lead_nowhere(self) -> None:
        assert form_of(b"\xff\xd8\xff\xe0" + struct.pack(">H", 65_535) + b"\x00" * 40) is DisplayForm.OTHER


class TestTextOf:
    def test_long_text_is_truncated(self) -> None:
        assert text_of(b"x" * (MOST_TEXT + 5)) == "x" * MOST_TEXT + " ..."
        assert text_of(b"short") == "short"
