"""A benchmark's zip, and the disk that it is unpacked on; tests/integration/web/benchmarks/test_api.py imports some."""

import errno
import io
import json
import os
import random
import stat
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import pytest

from backend.domain.errors import Invalid, NoRoom
from backend.web.benchmarks import uploads
from backend.web.benchmarks.uploads import load_zip
from tests.error_codes import raises_code


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def archive() -> io.BytesIO:
    """A zip file without a benchmark."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as files:
        files.writestr("notes/one.json", "{}")
    return out


class TestLoadZip:
    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    def test_a_full_disk_is_reported(
        self, temporary: Path, archive: io.BytesIO, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Path, "mkdir", full)
        with raises_code(NoRoom, "disk_full") as found:
            load_zip("starter", archive)
        assert str(temporary) in found.value.message
        assert list(temporary.iterdir()) == []

    def test_leftovers_of_a_killed_process_are_removed(self, temporary: Path, archive: io.BytesIO) -> None:
        old, new, other = temporary / f"{uploads.FOLDERS}old", temporary / f"{uploads.FOLDERS}new", temporary / "other"
        for folder in (old, new, other):
            (folder / "notes").mkdir(parents=True)
        before = time.time() - uploads.LEFT_SECONDS - 60
        for folder in (old, other):
            os.utime(folder, (before, before))
        with pytest.raises(Invalid):
            load_zip("starter", archive)
        assert set(temporary.iterdir()) == {new, other}


def damaged(compression: int, random_bytes: random.Random) -> io.BytesIO:
    """A benchmark's zip with some bytes changed, missing or added, mostly in its directory."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as files:
        files.writestr("about.json", json.dumps({"licence": "Apache-2.0", "source": "a test"}))
        files.writestr("notes/one.json", json.dumps({"id": "one", "instruction": "Wait."}) * 9)
    data = bytearray(out.getvalue())
    for _ in range(random_bytes.choice([1, 1, 3, 9])):
        at = max(0, len(data) - 1 - random_bytes.randrange(random_bytes.choice([300, len(data)])))
        length = random_bytes.randrange(1, 12)
        data[at : at + random_bytes.choice([1, length])] = random_bytes.randbytes(random_bytes.choice([0, 1, length]))
    return io.BytesIO(bytes(data))


def packed(*entries: tuple[zipfile.ZipInfo | str, bytes]) -> bytearray:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as files, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that are there twice.
        for name, data in entries:
            files.writestr(name, data, zipfile.ZIP_DEFLATED)
    return bytearray(out.getvalue())


def ordinary() -> bytearray:
    return packed(("notes/one.json", b'{"id": "one", "instruction": "Wait."}' * 9))


def patched(at: int, value: bytes, *, data: bytearray | None = None, local: int | None = None) -> bytearray:
    """A zip with bytes of its entry in the directory changed, and those of the entry itself."""
    data = data or ordinary()
    start = data.index(b"PK\x01\x02") + at
    data[start : start + len(value)] = value
    if local is not None:
        data[local : local + len(value)] = value
    return data


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("notes/link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def broken_checksum() -> bytearray:
    data = ordinary()
    data[45] ^= 0xFF
    return data


MALFORMED: dict[str, tuple[bytearray, str]] = {
    "no zip": (bytearray(b"hello"), "archive_damaged"),
    "empty": (bytearray(), "archive_damaged"),
    "truncated": (ordinary()[:-30], "archive_truncated"),
    "wrong checksum": (broken_checksum(), "archive_damaged"),
    "encrypted": (patched(8, b"\x01", local=6), "archive_encrypted"),
    "unknown method": (patched(10, b"\x61", local=8), "archive_method_not_supported"),
    "directory elsewhere": (patched(0, b"PKxx"), "archive_damaged"),
    "entry elsewhere": (patched(42, b"\xff\xff\xff\x7f"), "archive_damaged"),
    "zip64 lies": (patched(24, b"\xff\xff\xff\xff", data=patched(20, b"\xff\xff\xff\xff")), "archive_damaged"),
    "size lies": (patched(24, b"\x05\x00\x00\x00"), "archive_damaged"),
    "absolute name": (packed(("/etc/passwd", b"x")), "archive_unsafe"),
    "name of a drive": (packed(("C:/x", b"x")), "archive_unsafe"),
    "name that leads out": (packed(("notes/../../x", b"x")), "archive_unsafe"),
    "link": (packed((link(), b"/etc/passwd")), "archive_unsafe"),
    "name twice": (packed(("a/b", b"1"), ("a/b", b"2")), "archive_name_twice"),
    "name twice by its way": (packed(("a/b", b"1"), ("a/./b", b"2")), "archive_name_twice"),
    "file and folder": (packed(("a", b"1"), ("a/b", b"2")), "archive_damaged"),
    "name that is not UTF-8": (patched(46, b"\xff\xfe", local=30), "archive_name_not_utf8"),
    "bomb": (packed(("notes/one.json", bytes(80 << 20))), "archive_too_large"),
}


class TestMalformed:
    @pytest.mark.parametrize(("data", "code"), MALFORMED.values(), ids=MALFORMED)
    def test_has_a_code_of_its_own(self, temporary: Path, data: bytearray, code: str) -> None:
        with raises_code(Invalid, code):
            load_zip("starter", io.BytesIO(bytes(data)))
        assert list(temporary.iterdir()) == []

    def test_a_name_in_utf8_without_the_flag_is_read(self, temporary: Path) -> None:
        data = packed(("ab.json", b"{}"))
        for place in (data.index(b"ab.json"), data.rindex(b"ab.json")):
            data[place : place + 2] = "é".encode()
        with uploads.unpack_archive(io.BytesIO(bytes(data))) as folder:
            assert [path.name for path in folder.iterdir()] == ["é.json"]


class TestDamage:
    @pytest.mark.parametrize(
        "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    )
    def test_is_the_files_fault(self, temporary: Path, compression: int) -> None:
        codes = set()
        for number in range(100):
            with pytest.raises(Invalid) as found:
                load_zip("starter", damaged(compression, random.Random(number)))
            codes.add(found.value.code)
        assert "archive_damaged" in codes
        assert list(temporary.iterdir()) == []
