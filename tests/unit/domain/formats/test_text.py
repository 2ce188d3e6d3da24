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

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32", "utf-8", "utf-8-sig"])
    @pytest.mark.parametrize("text", ["a=1\n", "one line\nanother, caf\u00e9 \u6f22\n", "x\n" * 9000])
    def test_with_and_without_a_mark(self, tmp_path: Path, encoding: str, text: str) -> None:
        (tmp_path / "a").write_bytes(text.encode(encoding))
        assert read_text(str(tmp_path / "a")) == (text, "")

    @pytest.mark.parametrize(
        "data", [b"", b"\0", b"\0\0", b"a\0", b"ab\0\0", b"\0" * 9, b"a\0b\0\0\0\0c", b"one\0two\0three\0"]
    )
    def test_zeros_in_other_data(self, tmp_path: Path, data: bytes) -> None:
        """Only what is mostly zeros in one half of the bytes is UTF-16."""
        (tmp_path / "a").write_bytes(data)
        assert read_text(str(tmp_path / "a"))[0] == ("a" if data == b"a\0" else data.decode())

    def test_binary_bytes_equal_only_themselves(self, tmp_path: Path) -> None:
        texts = []
        for data in (b"\xff\xffabc", b"\xff\xfeabc"[::-1], b"\xfe\xedabc", b"\xc3\xa9\xe9"):
            (tmp_path / "a").write_bytes(data)
            texts.append(read_text(str(tmp_path / "a"))[0])
        assert texts == ["\uf7ff\uf7ffabc", "cba\uf7fe\uf7ff", "\uf7fe\uf7edabc", "\u00e9\uf7e9"]

    def test_a_folder_is_not_a_file(self, tmp_path: Path) -> None:
        assert read_text(str(tmp_path)) == (None, "the file does not exist")
