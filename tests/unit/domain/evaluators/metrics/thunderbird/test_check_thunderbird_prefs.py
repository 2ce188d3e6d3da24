from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.thunderbird.check_thunderbird_prefs import check_thunderbird_prefs
from tests.factories.mailbox import prefs


def value(folder: Path, lines: list[str], **rules: Any) -> float:
    return check_thunderbird_prefs(prefs(folder / "prefs.js", *lines), rules).value


class TestRules:
    @pytest.mark.parametrize(
        ("line", "method", "ref", "expected"),
        [
            ('"a", true', "eq", True, 1),
            ('"a", false', "eq", True, 0),
            ('"a", "dark theme"', "re", "dark", 1),
            ('"a", "Anonym\\nXYZ Lab"', "re.S", "Anonym\\nXYZ Lab", 1),
            ('"a", 3', "ge", 2, 1),
            ('"a", true', "re", "dark", 0),
            ('"a", "x"', "lt", 3, 0),
            ('"b", true', "eq", True, 0),
        ],
    )
    def test_expected(self, line: str, method: str, ref: Any, expected: int, tmp_path: Path) -> None:
        assert value(tmp_path, [line], expect={"a": {"method": method, "ref": ref}}) == expected

    def test_the_last_line_of_a_setting_counts(self, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": True}}
        assert value(tmp_path, ['"a", false', '"a", true'], expect=rule) == 1
        assert value(tmp_path, ['"a", true', '"a", false'], expect=rule) == 0

    def test_excluded(self, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": False}}
        assert value(tmp_path, ['"a", false'], unexpect=rule) == 0
        assert value(tmp_path, ['"a", true'], unexpect=rule) == 1
        assert value(tmp_path, [], unexpect=rule) == 1

    def test_a_quote_in_a_name(self, tmp_path: Path) -> None:
        assert value(tmp_path, [r'"a\"b", 1'], expect={r"a\"b": {"method": "eq", "ref": 1}}) == 1


class TestOddFiles:
    @pytest.mark.parametrize("text", ["nonsense", "[" * 100_000, "'x'", '"open'])
    def test_a_line_that_is_no_setting_is_passed_over(self, text: str, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": 1}}
        assert value(tmp_path, ['"a", 1', f'"a", {text}'], expect=rule) == 1

    def test_no_file(self) -> None:
        assert check_thunderbird_prefs(None, {"expect": {"a": {"method": "eq", "ref": 1}}}).value == 0


@pytest.mark.parametrize(
    "rules",
    [{}, None, {"expect": []}, {"expect": {"a": 1}}, {"expect": {"a": {"method": "x", "ref": 1}}}, {"expect": {}}],
)
def test_rules_without_meaning(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        check_thunderbird_prefs(prefs(tmp_path / "prefs.js"), rules)
