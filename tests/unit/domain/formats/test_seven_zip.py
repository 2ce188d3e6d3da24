import contextlib
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.formats.seven_zip import SevenZip
from backend.domain.formats.seven_zip_coders import MAX_UNPACKED, Coder, undone
from tests.error_codes import raises_code
from tests.factories import archives

NAME = "OldProjects/example.txt"


def content(data: bytes, password: str = "") -> bytes:
    archive = SevenZip(data, password)
    return archive.content(next(entry for entry in archive.entries if entry.name == NAME))


class TestSevenZip:
    @pytest.mark.parametrize("form", ["PLAIN", "X86", "BZIP2", "DEFLATE", "LZMA", "STORED"])
    def test_ways_of_packing(self, form: str) -> None:
        data = getattr(archives, f"{form}_7Z")
        assert content(data) == archives.TEXT
        assert not SevenZip(data).locked

    @pytest.mark.parametrize("data", [archives.LOCKED_7Z, archives.LOCKED_NAMES_7Z])
    def test_passwords(self, data: bytes) -> None:
        assert content(data, archives.PASSWORD) == archives.TEXT
        assert SevenZip(data, archives.PASSWORD).locked

    def test_names_are_open_unless_they_are_locked_too(self) -> None:
        assert [entry.name for entry in SevenZip(archives.LOCKED_7Z).entries] == [NAME]
        with pytest.raises((Invalid, StopIteration)):
            content(archives.LOCKED_NAMES_7Z, "wrong")

    def test_a_wrong_password(self) -> None:
        with raises_code(Invalid, "archive_damaged_or_encrypted"):
            content(archives.LOCKED_7Z, "wrong")

    @given(st.integers(0, len(archives.PLAIN_7Z) - 1), st.integers(1, 255))
    @settings(max_examples=60, deadline=None)
    def test_a_damaged_archive_never_gives_another_text(self, place: int, change: int) -> None:
        data = bytearray(archives.PLAIN_7Z)
        data[place] ^= change
        with contextlib.suppress(Invalid, EvaluatorFailed, StopIteration):
            assert content(bytes(data)) == archives.TEXT

    @given(st.binary(max_size=200))
    @settings(max_examples=60, deadline=None)
    def test_any_directory_ends_as_ours(self, header: bytes) -> None:
        sizes = (0).to_bytes(8, "little") + len(header).to_bytes(8, "little")
        start = sizes + crc32(header).to_bytes(4, "little")
        data = archives.PLAIN_7Z[:8] + crc32(start).to_bytes(4, "little") + start + header
        with contextlib.suppress(Invalid, EvaluatorFailed):
            SevenZip(data)


class TestCoders:
    def test_a_bomb_is_not_unpacked(self) -> None:
        with raises_code(Invalid, "archive_too_large"):
            undone(b"", Coder(b"\0", b"", MAX_UNPACKED + 1), "")

    def test_a_key_that_takes_for_ever(self) -> None:
        with raises_code(Invalid, "archive_too_large"):
            undone(b"\0" * 16, Coder(bytes.fromhex("06f10701"), b"\x3e", 16), "x")

    def test_an_unknown_way(self) -> None:
        with raises_code(EvaluatorFailed, "archive_not_supported", mentions="030401"):
            undone(b"", Coder(bytes.fromhex("030401"), b"", 0), "")
