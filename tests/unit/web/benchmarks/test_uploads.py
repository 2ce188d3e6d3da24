"""A benchmark's zip, and the disk that it is unpacked on; tests/integration/web/benchmarks/test_api.py imports some."""

import errno
import io
import json
import os
import random
import tempfile
import time
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
    def test_a_full_disk_is_told(
        self, temporary: Path, archive: io.BytesIO, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(Path, "mkdir", full)
        with raises_code(NoRoom, "disk_full") as found:
            load_zip("starter", archive)
        assert str(temporary) in found.value.message
        assert list(temporary.iterdir()) == []

    def test_what_a_killed_process_left_is_taken_away(self, temporary: Path, archive: io.BytesIO) -> None:
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
