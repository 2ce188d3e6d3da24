import shutil
import subprocess
from pathlib import Path

import pytest

from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from tests.factories.windows_media import virtio_iso
from worker.images.windows import iso as windows_iso
from worker.images.windows.iso import extract, write_disc


def listed(iso: Path) -> list[str]:
    """The files of a medium, as another program sees them."""
    done = subprocess.run(
        ["xorriso", "-indev", iso, "-find", "/", "-type", "f"], capture_output=True, text=True, check=True
    )
    return sorted(line.strip("'") for line in done.stdout.splitlines() if line.startswith("'/"))


@pytest.fixture(autouse=True)
def _xorriso() -> None:
    if shutil.which("xorriso") is None:
        pytest.skip("needs xorriso: apt install xorriso")


class TestWriteDisc:
    def test_holds_what_it_was_given(self, tmp_path: Path) -> None:
        (tmp_path / "an = odd name").write_bytes(b"from a file")
        write_disc(tmp_path / "m.iso", {"a.xml": b"<a/>", "$WinPEDriver$/x/y.inf": tmp_path / "an = odd name"})
        assert listed(tmp_path / "m.iso") == ["/$WinPEDriver$/x/y.inf", "/a.xml"]
        extract(tmp_path / "m.iso", ["$WinPEDriver$"], tmp_path)
        assert (tmp_path / "$WinPEDriver$" / "x" / "y.inf").read_bytes() == b"from a file"

    def test_is_found_by_its_label(self, tmp_path: Path) -> None:
        write_disc(tmp_path / "m.iso", {"a": b""})
        # Joliet's own descriptor is what Windows reads; its label is in big-endian UTF-16.
        assert "DESKARENA".encode("utf-16-be") in (tmp_path / "m.iso").read_bytes()

    def test_refuses_a_file_that_windows_could_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(windows_iso, "MOST_FILE", 10)
        with raises_code(Invalid, "invalid_iso", mentions="10"):
            write_disc(tmp_path / "m.iso", {"a": b"x" * 11})
        assert list(tmp_path.iterdir()) == [], "nothing half is left"


class TestExtract:
    def test_takes_out_folders_that_can_be_removed_again(self, tmp_path: Path) -> None:
        target = tmp_path / "out"
        target.mkdir()
        extract(virtio_iso(tmp_path), ["viostor/w11/amd64"], target)
        assert {path.name for path in target.rglob("*.*")} == {"viostor.inf", "viostor.sys"}
        shutil.rmtree(target)

    def test_says_what_a_medium_lacks(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_iso", mentions="viorng/w11/amd64"):
            extract(virtio_iso(tmp_path, without="viorng"), ["viorng/w11/amd64"], tmp_path)
