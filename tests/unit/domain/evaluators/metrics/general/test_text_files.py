from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.check_csv import check_csv
from backend.domain.evaluators.metrics.general.check_line_number import check_line_number
from backend.domain.evaluators.metrics.general.check_list import check_list
from backend.domain.evaluators.metrics.general.compare_python_pure_text import (
    compare_python_pure_text,
    compare_python_pure_text_waa,
)
from backend.domain.evaluators.metrics.general.compare_terminal_and_txt import compare_terminal_and_txt
from backend.domain.evaluators.metrics.general.compare_time_in_speedtest_results import (
    compare_time_in_speedtest_results,
)
from backend.domain.evaluators.metrics.general.file_contains import file_contains


def write(folder: Path, text: str | bytes, name: str = "a.txt") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


class TestCheckList:
    def test_an_empty_file_has_nothing_unwanted(self, tmp_path: Path) -> None:
        """OSWorld 415ef462: `diff` printed nothing."""
        assert check_list(write(tmp_path, ""), {"unexpect": [".+"]}).value == 1.0
        assert check_list(write(tmp_path, "< a\n"), {"unexpect": [".+"]}).value == 0.0

    def test_a_pattern_may_look_for_the_line_end(self, tmp_path: Path) -> None:
        path = write(tmp_path, "one\r\ntwo")
        assert check_list(path, {"expect": [r"one\n", r"two$"]}).value == 1.0
        assert check_list(path, {"expect": [r"two\n"]}).value == 0.0

    def test_a_pattern_does_not_reach_over_lines(self, tmp_path: Path) -> None:
        assert check_list(write(tmp_path, "a\nb\n"), {"expect": [r"a\s*b"]}).value == 0.0

    def test_patterns_match_letters_of_other_scripts(self, tmp_path: Path) -> None:
        assert check_list(write(tmp_path, "歡迎 x.eml\n"), {"expect": ["歡迎.*\\.eml"]}).value == 1.0

    def test_invalid_pattern_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            check_list(write(tmp_path, "a"), {"expect": ["("]})


class TestCheckCsv:
    def test_a_byte_order_mark_is_not_part_of_the_first_column(self, tmp_path: Path) -> None:
        path = write(tmp_path, b"\xef\xbb\xbfurl,user\nu,me\n")
        assert check_csv(path, {"expect": [{"url": "u", "user": "me"}]}).value == 1.0

    def test_quoted_line_ends_belong_to_the_field(self, tmp_path: Path) -> None:
        assert check_csv(write(tmp_path, 'a,b\n"x\ny",z\n'), {"expect": [{"a": "x\ny", "b": "z"}]}).value == 1.0

    def test_an_unknown_column_matches_nothing(self, tmp_path: Path) -> None:
        assert check_csv(write(tmp_path, "a\nx\n"), {"unexpect": [{"b": "x"}]}).value == 1.0

    def test_row_of_a_removed_account_is_detected(self, tmp_path: Path) -> None:
        """OSWorld dfac9ee8: only what must not be there is named."""
        rules = {"unexpect": [{"url": "imap://o", "user": "me"}]}
        assert check_csv(write(tmp_path, "url,user\nimap://o,me\n"), rules).value == 0.0
        assert check_csv(write(tmp_path, "url,user\nimap://o,you\n"), rules).value == 1.0
        assert check_csv(None, rules).value == 0.0


class TestFileContains:
    def test_utf_16_is_read(self, tmp_path: Path) -> None:
        """PowerShell writes it."""
        assert file_contains(write(tmp_path, "Ping Download".encode("utf-16")), {"expected": ["Download"]}).value == 1.0

    def test_missing_texts_are_named(self, tmp_path: Path) -> None:
        assert "'Upload'" in file_contains(write(tmp_path, "Ping"), {"expected": ["Ping", "Upload"]}).reasons[0]

    def test_single_text_is_accepted_as_expectation(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            file_contains(write(tmp_path, "Ping"), {"expected": "Ping"})


class TestCheckLineNumber:
    def test_a_leap_second_counts(self, tmp_path: Path) -> None:
        assert check_line_number(write(tmp_path, "23:59:60\n10:00:00\n"), {"expected": 2}).value == 1.0

    def test_line_with_two_times_counts_once(self, tmp_path: Path) -> None:
        assert check_line_number(write(tmp_path, "10:00:00 to 10:00:01\n"), {"expected": "1"}).value == 1.0

    def test_rule_that_is_not_a_number_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            check_line_number(write(tmp_path, ""), {"expected": "many"})


class TestCompareTerminalAndTxt:
    def test_equal_texts_score_1(self, tmp_path: Path) -> None:
        assert compare_terminal_and_txt(write(tmp_path, "a\r\nb\r\n"), "a\nb\n").value == 1.0

    @pytest.mark.parametrize("shown", [None, ""])
    def test_an_empty_terminal_is_not_a_right_answer(self, tmp_path: Path, shown: str | None) -> None:
        assert compare_terminal_and_txt(write(tmp_path, ""), shown).value == 0.0


class TestComparePythonPureText:
    GOLD = "import os\n\n\ndef f():\n    return 1\n"

    @pytest.mark.parametrize(
        ("text", "common", "waa"),
        [
            ("import os\ndef f():\n    return 1", 1.0, 1.0),
            ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport os\ndef f():\n\treturn 1  \n", 1.0, 0.0),
            ("import os\ndef f():\nreturn 1\n", 0.0, 1.0),
            ("```python\nimport os\ndef f():\n    return 1\n```\n", 0.0, 0.0),
            ("import os\ndef f():\n    return 2\n", 0.0, 0.0),
        ],
    )
    def test_code_is_compared_as_in_each_suite(self, tmp_path: Path, text: str, common: float, waa: float) -> None:
        mine, gold = write(tmp_path, text, "a.py"), write(tmp_path, self.GOLD, "gold.py")
        assert compare_python_pure_text(mine, gold).value == common
        assert compare_python_pure_text_waa(mine, gold).value == waa

    def test_the_differing_line_is_named(self, tmp_path: Path) -> None:
        result = compare_python_pure_text(write(tmp_path, "a = 1\nb = 2\n"), write(tmp_path, "a = 1\nb = 3\n", "gold"))
        assert result.reasons == ("relevant line 2 is 'b = 2', expected 'b = 3'",)


class TestCompareTimeInSpeedtestResults:
    @staticmethod
    def export(folder: Path, clock: str) -> str:
        return write(folder, f"TEST_ID,DATE,PING\n1,3/1/2026 {clock},12\n")

    def test_time_within_the_range_passes(self, tmp_path: Path) -> None:
        wanted = {"minutes": "60", "now": "11:00"}
        assert compare_time_in_speedtest_results(self.export(tmp_path, "10:01"), wanted).value == 1.0
        assert compare_time_in_speedtest_results(self.export(tmp_path, "10:00"), wanted).value == 0.0

    def test_times_around_midnight_are_near(self, tmp_path: Path) -> None:
        path, wanted = self.export(tmp_path, "23:58"), {"minutes": 60, "now": "00:03"}
        assert compare_time_in_speedtest_results(path, wanted).value == 1.0
        assert compare_time_in_speedtest_results(path, wanted, strict_upstream=True).value == 0.0

    def test_host_clock_is_the_default(self, tmp_path: Path) -> None:
        assert compare_time_in_speedtest_results(self.export(tmp_path, "10:00"), "1441").value == 1.0

    def test_export_with_only_a_header_scores_0(self, tmp_path: Path) -> None:
        path = write(tmp_path, "TEST_ID,DATE\n")
        assert compare_time_in_speedtest_results(path, {"minutes": 60, "now": "00:03"}).value == 0.0

    def test_range_that_is_not_a_number_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            compare_time_in_speedtest_results(self.export(tmp_path, "10:00"), None)  # type: ignore[arg-type]


class TestLinesAsShown:
    @pytest.mark.parametrize(
        ("text", "rule", "value"),
        [
            ("a;b\n1;2\n", {"a": "1", "b": "2"}, 1.0),
            ("a\tb\n1\t2\n", {"a": "1", "b": "2"}, 1.0),
            ("sep=;\na;b\n1;2\n", {"a": "1"}, 1.0),
            ("a,b;c\n1,2;3\n", {"b;c": "2;3"}, 1.0),
            ("a,b\n1,2\n", {"a": 1}, 1.0),
            ("a,b\n1,2\n", {"a": True}, 0.0),
            ("a,b\n1,2,3\n", {"a": "1", "b": "2"}, 1.0),
            ('a,b\r\n"x\r\ny",2\r\n', {"a": "x\ny"}, 1.0),
            ("a,b\n1,2\n", {"c": "1"}, 0.0),
        ],
    )
    def test_records(self, tmp_path: Path, text: str, rule: dict[str, object], value: float) -> None:
        assert check_csv(write(tmp_path, text), {"expect": [rule]}).value == value

    def test_a_record_of_excel(self, tmp_path: Path) -> None:
        """`Unicode text` is UTF-16 with tabs."""
        path = write(tmp_path, "a\tb\r\n1\t2\r\n".encode("utf-16"))
        assert check_csv(path, {"expect": [{"a": "1", "b": "2"}]}).value == 1.0

    @pytest.mark.parametrize(
        ("text", "terminal", "value"),
        [
            ("$ ls\na", "$ ls\na\n", 1.0),
            ("$ ls  \na\n", "$ ls\r\na\r\n", 1.0),
            ("$ ls\na\n\n", "$ ls\na", 1.0),
            ("$ ls\n\na\n", "$ ls\na\n", 0.0),
            (" $ ls\na\n", "$ ls\na\n", 0.0),
            ("", "\n", 1.0),
        ],
    )
    def test_blanks_of_a_terminal(self, tmp_path: Path, text: str, terminal: str, value: float) -> None:
        assert compare_terminal_and_txt(write(tmp_path, text), terminal).value == value

    @pytest.mark.parametrize(
        ("line", "count"),
        [("x 10:00:00", 1), ("10:00:00.5", 1), ("T10:00:00Z", 1), ("110:00:00", 0), ("10:00:001", 0), ("24:00:00", 0)],
    )
    def test_times_of_day(self, tmp_path: Path, line: str, count: int) -> None:
        path = write(tmp_path, f"{line}\n")
        assert [check_line_number(path, {"expected": number}).value for number in (count, 1 - count)] == [1.0, 0.0]

    def test_line_ends_of_windows_in_rules(self, tmp_path: Path) -> None:
        path = write(tmp_path, "a\nb\n")
        assert file_contains(path, {"expected": ["a\r\nb"]}).value == 1.0
        assert file_contains(path, {"expected": ["a\r\nb"]}, strict_upstream=True).value == 0.0

    def test_a_form_feed_ends_no_line(self, tmp_path: Path) -> None:
        one, other = write(tmp_path, "a = 'x\fy'\n"), write(tmp_path, "a = 'x\ny'\n", "b.txt")
        assert compare_python_pure_text(one, other).value == 0.0
        assert compare_python_pure_text(one, one).value == 1.0
