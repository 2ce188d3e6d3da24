from pathlib import Path

from backend.domain.errors import Invalid
from tests.error_codes import raises_code
from tests.factories.windows_media import wim, windows_iso
from worker.images.windows.udf import Udf


class TestUdf:
    def test_reads_a_file_in_place(self, tmp_path: Path) -> None:
        with Udf(windows_iso(tmp_path)) as medium:
            extents = medium.find("Sources/INSTALL.wim")
            assert extents is not None
            assert medium.read(extents, 0, len(wim())) == wim()
            assert medium.read(extents, 5, 10) == wim()[5:15]

    def test_says_that_a_file_is_not_there(self, tmp_path: Path) -> None:
        with Udf(windows_iso(tmp_path)) as medium:
            assert medium.find("sources/install.esd") is None
            assert medium.find("nowhere/install.wim") is None

    def test_reads_nothing_beyond_a_files_end(self, tmp_path: Path) -> None:
        with Udf(windows_iso(tmp_path)) as medium:
            extents = medium.find("sources/install.wim")
            assert extents is not None
            with raises_code(Invalid, "invalid_iso"):
                medium.read(extents, 0, 2**20)

    def test_says_that_it_cannot_be_opened(self, tmp_path: Path) -> None:
        with raises_code(Invalid, "invalid_iso"):
            Udf(tmp_path / "none.iso")
