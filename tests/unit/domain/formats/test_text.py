from pathlib import Path

import pytest

from backend.domain.formats.text import read_text


class TestReadText:
    @pytest.mark.parametrize(
        "data", [b"\xc3\xa4\n", b"\xef\xbb\xbf\xc3\xa4\r\n", "\ufeff\u00e4\n".encode("utf-16-le"), b"\xc3\xa4\r"]
    )
    def test_encodings_and_line_ends(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a").write_bytes(data)
        assert read_text(str(tmp_path / "a")) == ("\u00e4\n", "")

    def test_bytes_that_are_no_text_are_shown(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"\xff\xffabc")
        text, _ = read_text(str(tmp_path / "a"))
        assert text is not None
        assert "\N{REPLACEMENT CHARACTER}" in text

    def test_a_folder_is_no_file(self, tmp_path: Path) -> None:
        assert read_text(str(tmp_path)) == (None, "the file does not exist")
