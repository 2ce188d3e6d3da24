"""`compare_csv` and `compare_conference_city_in_order`."""

from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.table.compare_conference_city_in_order import compare_conference_city_in_order
from backend.domain.evaluators.metrics.table.compare_csv import compare_csv, compare_csv_waa
from tests.factories import xlsx
from tests.factories.metric_cases.table import CITIES


class TestCompareCsv:
    @pytest.mark.parametrize(
        ("found", "wanted", "options", "value"),
        [
            (b"a,b\r\n1,2\r\n", b"a,b\n1,2", {}, 1.0),
            (b"a,b\n1,2 \n", b"a,b\n1,2\n", {}, 0.0),
            (b"a,b\n1,2 \n", b"a,b\n1,2\n", {"strict": False}, 1.0),
            (b"A,B\n1,2\n", b"a,b\n1,2\n", {}, 0.0),
            (b"A,B\n1,2\n", b"a,b\n1,2\n", {"ignore_case": True}, 1.0),
            (b"\xef\xbb\xbfa\n", b"a\n", {}, 1.0),
            (b"\xff\xfea\x00\n\x00", b"a\n", {}, 1.0),
            (b"caf\xe9\n", "café\n".encode(), {}, 1.0),
            (b"a\n\n", b"a\n", {}, 0.0),
            (b"a,b,,\n1,2,,\n", b"a,b\n1,2\n", {}, 1.0),
            (b"a,b,,\n1,2,,\n", b"a,b\n1,2\n", {"strict_upstream": True}, 0.0),
            (b"a,b,,\n1,2,,\n,,,\n", b"a,b\n1,2\n", {}, 0.0),
            (b"a,b,\n1,2\n", b"a,b\n1,2\n", {}, 1.0),
            (b"a,,b\n1,,2\n", b"a,b\n1,2\n", {}, 0.0),
            (b",a,b\n", b"a,b\n", {}, 0.0),
            ("a,b\n1,2\n".encode("utf-16-le"), b"a,b\n1,2\n", {}, 1.0),
            ("a,b\n1,2\n".encode("utf-16-be"), b"a,b\n1,2\n", {}, 1.0),
            (b"", b"a\n", {}, 0.0),
            (b"a\x0bb\x0c\n", b"a\nb\n", {}, 0.0),
            (b"a\x0bb\x0c\n", b"a\nb\n", {"strict_upstream": True}, 0.0),
            (b"a\x0bb\n", b"a\nb\n", {"strict_upstream": True}, 1.0),
            ("a\u2028b\n".encode(), "a\u2028b\r\n".encode(), {}, 1.0),
        ],
    )
    def test_lines_are_compared_with_the_options(
        self, tmp_path: Path, found: bytes, wanted: bytes, options: dict[str, Any], value: float
    ) -> None:
        (tmp_path / "result.csv").write_bytes(found)
        (tmp_path / "gold.csv").write_bytes(wanted)
        paths = str(tmp_path / "result.csv"), str(tmp_path / "gold.csv")
        assert compare_csv(*paths, **options).value == value
        assert compare_csv_waa(*paths, **options).value == value

    @pytest.mark.parametrize(
        ("actual", "gold", "value"),
        [
            ('"a","b"\n"1",""\n', "a,b\n1,\n", 1.0),
            ("a,b\n1,\n", '"a","b"\n"1",""\n', 1.0),
            ('"a";"b"\n', "a;b\n", 1.0),
            ('"a"\t"b"\n', "a\tb\n", 1.0),
            ('"a, b",c\n', '"a, b","c"\n', 1.0),
            ('"a ""b""",c\n', '"a ""b""","c"\n', 1.0),
            ('"a\nb",c\n', '"a\nb","c"\n', 1.0),
            ('""\n', "\n", 1.0),
            ('"a,b"\n', "a,b\n", 0.0),
            ('"a,b";c\n', "a,b;c\n", 0.0),
            ('"a" ,b\n', "a,b\n", 0.0),
            ('" a",b\n', "a,b\n", 0.0),
            ('"a\n', "a\n", 0.0),
            ('"a"b\n', "ab\n", 0.0),
            ('"a","b"\n\n', "a,b\n", 0.0),
        ],
    )
    def test_quotes_are_another_spelling(self, tmp_path: Path, actual: str, gold: str, value: float) -> None:
        (tmp_path / "result.csv").write_text(actual)
        (tmp_path / "gold.csv").write_text(gold)
        paths = str(tmp_path / "result.csv"), str(tmp_path / "gold.csv")
        assert [compare_csv(*paths).value, compare_csv_waa(*paths).value] == [value, value]
        assert [judge(*paths, strict_upstream=True).value for judge in (compare_csv, compare_csv_waa)] == [0.0, 0.0]

    def test_one_of_several_expected_tables_suffices(self, tmp_path: Path) -> None:
        for name in ("a", "b", "c"):
            (tmp_path / name).write_text(f"{name}\n")
        a, b, c = (str(tmp_path / name) for name in "abc")
        assert compare_csv(b, [a, b]).value == 1.0
        assert compare_csv(c, [a, b]).reasons == ("line 1 is 'c', expected 'a' (and not as any of the 1 other tables)",)
        assert compare_csv(b, [str(tmp_path / "gone"), b]).value == 1.0
        with pytest.raises(EvaluatorFailed):
            compare_csv(c, [str(tmp_path / "gone"), b])

    def test_waa_keeps_the_mark(self, tmp_path: Path) -> None:
        (tmp_path / "result.csv").write_bytes(b"\xef\xbb\xbfa\n")
        (tmp_path / "gold.csv").write_bytes(b"a\n")
        paths = str(tmp_path / "result.csv"), str(tmp_path / "gold.csv")
        assert compare_csv_waa(*paths, strict_upstream=True).value == 0.0


class TestCompareConferenceCityInOrder:
    def made(self, path: Path, *first: Any) -> str:
        names = [*first, *(f"City {number}" for number in range(19))]
        return str(xlsx.book(path, [["a", "b", "c"], *([1, 2, name] for name in names)]))

    def test_accents_and_additional_words_are_ignored(self, tmp_path: Path) -> None:
        path = self.made(tmp_path / "result.xlsx", "MONTRÉAL (Canada)", "Los Angeles, CA")
        assert compare_conference_city_in_order(path, {"expected": CITIES}).value == 1.0

    def test_city_must_be_a_whole_word(self, tmp_path: Path) -> None:
        path = self.made(tmp_path / "result.xlsx", "Montreal", "Atlanta")
        assert compare_conference_city_in_order(path, {"expected": CITIES}).value == 0.0
        assert compare_conference_city_in_order(path, {"expected": CITIES}, strict_upstream=True).value == 1.0

    @pytest.mark.parametrize("cell", [None, 7, "Boston"])
    def test_another_city_is_reported(self, tmp_path: Path, cell: Any) -> None:
        result = compare_conference_city_in_order(
            self.made(tmp_path / "result.xlsx", "Montreal", cell), {"expected": CITIES}
        )
        assert result.value == 0.0
        assert result.reasons[0].startswith("C3: got ")

    @pytest.mark.parametrize("rules", [{}, {"expected": []}, {"expected": "x"}, {"expected": [None] * 21}])
    def test_invalid_rules_give_no_verdict(self, tmp_path: Path, rules: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            compare_conference_city_in_order(self.made(tmp_path / "result.xlsx", "a", "b"), rules)
