from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters.files.vm_file import VmFile
from tests.error_codes import raises_code
from tests.factories.desktops import linux
from tests.factories.starter_tasks import FakeContext

NOON = 1_798_714_800.0  # 2026-12-31 11:00 UTC


def value(context: FakeContext, parameters: dict[str, Any], folder: Path) -> Any:
    VmFile().check(parameters)
    return VmFile().read(VmFile().collect(context, parameters), parameters, folder)


class TestCompanions:
    def test_copies_are_in_one_folder(self, tmp_path: Path) -> None:
        """`sheet_print` of compare_table finds book-Sheet1.csv beside book.xlsx; `gives` names only the first."""
        context = linux({"/a/book.xlsx": b"X", "/a/book-Sheet1.csv": b"C"})
        parameters = {
            "path": ["/a/book.xlsx", "/a/book-Sheet1.csv"],
            "dest": ["book.xlsx", "book-Sheet1.csv"],
            "multi": "true",
        }
        path = Path(value(context, parameters, tmp_path))
        assert (path.with_name("book-Sheet1.csv").read_bytes(), path.read_bytes()) == (b"C", b"X")

    def test_missing_companion_is_none(self, tmp_path: Path) -> None:
        parameters = {"path": ["/a", "/b"], "dest": ["a", "b"], "multi": True, "gives": [0, 1]}
        assert value(linux({"/a": b"A"}), parameters, tmp_path) == [str(tmp_path / "a"), None]


class TestTimeSuffix:
    PARAMETERS = {"path": "C:\\Users\\x.y\\Export-.csv", "dest": "export.csv", "time_suffix": True}  # noqa: RUF012

    def test_desktops_date_is_inserted_before_the_extension(self, tmp_path: Path) -> None:
        """At 11:00 UTC it is the next day 14 hours further east."""
        context = linux({"C:\\Users\\x.y\\Export-2027_01_01.csv": b"D"}, python=str(14 * 3600), time=NOON)
        assert Path(value(context, self.PARAMETERS, tmp_path)).read_bytes() == b"D"

    def test_time_format_sets_the_dates_form(self, tmp_path: Path) -> None:
        context = linux({"C:\\Users\\x.y\\Export-20261231.csv": b"D"}, python="0", time=NOON)
        assert value(context, {**self.PARAMETERS, "time_format": "%Y%m%d"}, tmp_path) == str(tmp_path / "export.csv")

    def test_undated_file_is_used_if_no_dated_one_exists(self, tmp_path: Path) -> None:
        context = linux({"C:\\Users\\x.y\\Export-.csv": b"P"}, python="0", time=NOON)
        assert Path(value(context, self.PARAMETERS, tmp_path)).read_bytes() == b"P"

    def test_value_is_none_without_dated_and_undated_file(self, tmp_path: Path) -> None:
        context = linux(python="0", time=NOON)
        assert value(context, self.PARAMETERS, tmp_path) is None
        assert "2026_12_31" in VmFile().collect(context, self.PARAMETERS)[0].name

    def test_unknown_time_zone_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable"):
            VmFile().collect(linux(time=NOON), self.PARAMETERS)

    def test_suffix_is_rejected_for_several_files(self) -> None:
        with raises_code(Invalid, "invalid_parameter", mentions="single file"):
            VmFile().check({"path": ["/a"], "dest": ["a"], "multi": True, "time_suffix": True})
