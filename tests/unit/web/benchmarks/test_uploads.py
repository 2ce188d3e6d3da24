"""A benchmark's zip, and the disk that it is unpacked on; tests/integration/web/benchmarks/test_api.py imports some."""

import errno
import io
import os
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
