from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.thunderbird.check_thunderbird_prefs import check_thunderbird_prefs
from backend.domain.formats.mozilla_prefs import MAX_TEXT
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
    def test_expected_values_are_compared_by_every_method(
        self, line: str, method: str, ref: Any, expected: int, tmp_path: Path
    ) -> None:
        assert value(tmp_path, [line], expect={"a": {"method": method, "ref": ref}}) == expected

    def test_the_last_line_of_a_setting_counts(self, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": True}}
        assert value(tmp_path, ['"a", false', '"a", true'], expect=rule) == 1
        assert value(tmp_path, ['"a", true', '"a", false'], expect=rule) == 0

    def test_unexpected_value_scores_0(self, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": False}}
        assert value(tmp_path, ['"a", false'], unexpect=rule) == 0
        assert value(tmp_path, ['"a", true'], unexpect=rule) == 1
        assert value(tmp_path, [], unexpect=rule) == 1

    def test_an_excluded_value_behind_a_long_line_is_found(self, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": False}}
        assert value(tmp_path, ['"b", 1);' + " " * MAX_TEXT + "//", '"a", false'], unexpect=rule) == 0

    def test_a_quote_in_a_name(self, tmp_path: Path) -> None:
        assert value(tmp_path, [r'"a\"b", 1'], expect={'a"b': {"method": "eq", "ref": 1}}) == 1


class TestOddFiles:
    @pytest.mark.parametrize("text", ["nonsense", "[" * 100_000, "'x' 'y'", '"open'])
    def test_a_line_that_is_not_a_setting_is_passed_over(self, text: str, tmp_path: Path) -> None:
        rule = {"a": {"method": "eq", "ref": 1}}
        assert value(tmp_path, ['"a", 1', f'"a", {text}'], expect=rule) == 1

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('user_pref( "a" , 5 ) ;', 5),
            ("user_pref('a', 5);", 5),
            ('user_pref\n(\n"a",\n5\n)\n;', 5),
            ('pref("a", 5);', 5),
            ('/* x */ user_pref("a", /* 4 */ 5); // 6', 5),
            ('user_pref("b", 1);user_pref("a", 5);', 5),
            ('user_pref("a", -5);', -5),
            ('user_pref("a", +5);', 5),
            ('user_pref("a", "x\\x41\\u00e9\\n\\\\");', "xAé\n\\"),
            ('user_pref("a", "it\\\'s");', "it's"),
            ('user_pref("a", "\\ud83d\\ude00");', "\U0001f600"),
            ('user_pref("a", "; // no comment");', "; // no comment"),
            ('user_pref("a", 1);\nuser_pref("a", 5);', 5),
            ('user_pref("b", True);user_pref("a", 5);', 5),
            ('# user_pref("a", 1);\nuser_pref("a", 5);', 5),
        ],
    )
    def test_forms_that_the_program_reads(self, text: str, expected: Any, tmp_path: Path) -> None:
        (tmp_path / "prefs.js").write_text(text)
        rules = {"expect": {"a": {"method": "eq", "ref": expected}}}
        assert check_thunderbird_prefs(str(tmp_path / "prefs.js"), rules).value == 1

    @pytest.mark.parametrize(
        "text",
        [
            *(f'user_pref("a", {one});' for one in ("True", "None", "undefined", "0x10", "1,", "1.0", "[1]", "null")),
            *(
                f'user_pref("a", {one});'
                for one in ("2147483648", "1e3", '"\\q"', '"\\x4"', '"\\ud83d"', '"\\u0000"', "- 1 1")
            ),
            'user_pref("a", 1)',
            'user_pref("a" 1);',
            "user_pref(a, 1);",
            'user_pref("a", 1, sticky);',
            'lock_pref("a", 1);',
            'x user_pref("a", 1);',
            '/*\nuser_pref("a", 1);\n*/',
            '/* user_pref("a", 1);',
            '// user_pref("a", 1);',
            '"user_pref("a", 1);',
            'user_pref("b", "\nuser_pref("a", 1);',
        ],
    )
    def test_lines_that_set_nothing(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "prefs.js").write_text(text)
        rules = {"expect": {"a": {"method": "ne", "ref": "x"}}}
        result = check_thunderbird_prefs(str(tmp_path / "prefs.js"), rules)
        assert result.value == 0
        assert "not set" in result.reasons[0]

    @pytest.mark.parametrize(
        ("text", "method", "ref", "ours", "published"),
        [
            ('"a", 1', "eq", True, 0, 1),
            ('"a", true', "ge", 1, 0, 1),
            ('"a", false', "eq", 0, 0, 1),
            ('"a", 1.0', "eq", 1, 0, 1),
            ('"a", 1', "eq", 1, 1, 1),
        ],
    )
    def test_values_are_compared_by_type(  # noqa: PLR0913, PLR0917
        self, text: str, method: str, ref: Any, ours: int, published: int, tmp_path: Path
    ) -> None:
        rules = {"expect": {"a": {"method": method, "ref": ref}}}
        path = prefs(tmp_path / "prefs.js", text)
        assert check_thunderbird_prefs(path, rules).value == ours
        assert check_thunderbird_prefs(path, rules, strict_upstream=True).value == published

    def test_strict_upstream_reads_commented_lines(self, tmp_path: Path) -> None:
        (tmp_path / "prefs.js").write_text('/*\nuser_pref("a", 1);\n*/\n')
        rules = {"expect": {"a": {"method": "eq", "ref": 1}}}
        assert check_thunderbird_prefs(str(tmp_path / "prefs.js"), rules, strict_upstream=True).value == 1

    def test_an_excluded_value_that_was_replaced(self, tmp_path: Path) -> None:
        path = prefs(tmp_path / "prefs.js", '"a", 1', '"a", 2')
        rules = {"unexpect": {"a": {"method": "eq", "ref": 1}}}
        assert check_thunderbird_prefs(path, rules).value == 1
        assert check_thunderbird_prefs(path, rules, strict_upstream=True).value == 0

    def test_missing_file_scores_0(self) -> None:
        assert check_thunderbird_prefs(None, {"expect": {"a": {"method": "eq", "ref": 1}}}).value == 0


@pytest.mark.parametrize(
    "rules",
    [{}, None, {"expect": []}, {"expect": {"a": 1}}, {"expect": {"a": {"method": "x", "ref": 1}}}, {"expect": {}}],
)
def test_invalid_rules_give_no_verdict(rules: Any, tmp_path: Path) -> None:
    with pytest.raises(EvaluatorFailed):
        check_thunderbird_prefs(prefs(tmp_path / "prefs.js"), rules)
