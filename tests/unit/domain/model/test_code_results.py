from typing import Any

import pytest

from backend.domain.model.code_results import LINES, LONGEST, code_failed, code_failure, code_report, refusal

GOOD = {"returncode": 0, "output": "", "error": ""}


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({}, False),
        (GOOD, False),
        ({**GOOD, "error": "Warning: slow"}, False),
        ({**GOOD, "error": "x\ndeskarena: there is no key 'hyperdrive'; nothing was pressed\n"}, True),
        ({**GOOD, "returncode": 1}, True),
        ({**GOOD, "returncode": -9}, True),
        ({"error": "the command did not end within 30 s and was killed", "kind": "timeout"}, True),
        ({"error": "there is no key", "kind": "unknown_key"}, False),
        ({"skipped": "after an invalid action"}, False),
        ({"waited": 0.5}, False),
    ],
)
def test_recognizes_failed_code(result: dict[str, Any], failed: bool) -> None:  # noqa: FBT001 - a table.
    assert code_failed([{}, result]) is failed


class TestReport:
    def test_contains_the_end_of_the_error(self) -> None:
        error = "\n".join("x" * 300 + str(number) for number in range(100))
        report = code_report([{**GOOD, "returncode": 1, "error": error}])
        assert report.endswith("99")
        assert len(report) < LONGEST + 100
        assert len(report.splitlines()) <= LINES + 1

    def test_contains_the_exit_code_without_output(self) -> None:
        assert "3" in code_report([{**GOOD, "returncode": 3}])

    def test_reports_a_timeout(self) -> None:
        result = {"error": "the command did not end within 30 s and was killed", "kind": "timeout"}
        assert "30 s" in code_report([result])

    def test_is_empty_where_nothing_went_wrong(self) -> None:
        assert not code_report([{}, GOOD, {"error": "off the screen"}])


class TestOneLine:
    @pytest.mark.parametrize(
        ("result", "failure", "refused"),
        [
            (GOOD, "", ""),
            ({**GOOD, "error": "Warning: slow"}, "", ""),
            ({**GOOD, "returncode": 1, "error": "Traceback\n  File x\nNameError: y\n\n"}, "NameError: y", ""),
            ({**GOOD, "returncode": 3}, "exit code 3", ""),
            ({"error": "the command did not end", "kind": "timeout"}, "the command did not end", ""),
            ({"error": "there is no key 'x1'", "kind": "unknown_key"}, "", "there is no key 'x1'"),
            ({"error": "(9, 9) is outside the screen of 4x4"}, "", "(9, 9) is outside the screen of 4x4"),
            ({"skipped": "after an invalid action"}, "", ""),
        ],
    )
    def test_one_line_per_step(self, result: dict[str, Any], failure: str, refused: str) -> None:
        assert (code_failure([{}, result]), refusal([{}, result])) == (failure, refused)
