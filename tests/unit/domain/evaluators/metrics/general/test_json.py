import json
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.check_direct_json_object import (
    check_direct_json_object,
    check_direct_json_object_waa,
)
from backend.domain.evaluators.metrics.general.check_json import check_json
from backend.domain.evaluators.metrics.general.is_included_all_json_objects import is_included_all_json_objects


def write(folder: Path, text: str, name: str = "a.json") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def fits(folder: Path, data: Any, method: str, ref: Any) -> float:
    rules = {"expect": [{"key": ["k"], "method": method, "ref": ref}]}
    return check_json(write(folder, json.dumps({"k": data})), rules).value


class TestCheckJson:
    @pytest.mark.parametrize(
        ("data", "method", "ref", "value"),
        [
            (["a"], "eq", ["a"], 1.0),
            (5, "ne", 6, 1.0),
            (5, "le", 5, 1.0),
            (5, "lt", 5, 0.0),
            (5, "ge", 5, 1.0),
            (5, "gt", 5, 0.0),
            ("smart,all", "re", r"\bsmart\b", 1.0),
            ("SMART", "re.I.S", "smart", 1.0),
            ("SMART", "re", "smart", 0.0),
            ("1.04", "approx:0.1", 1, 1.0),
            ("x", "approx:0.1", 1, 0.0),
            (0, "range.tt", [0, 2], 0.0),
            (2, "range.ee", [0, 2], 1.0),
            ("'a,b'", "str_list_eq", ["a", "b"], 1.0),
            ("b,a", "str_set_eq", ["a", "b"], 1.0),
            ("b,a", "str_list_eq", ["a", "b"], 0.0),
            ("text", "lt", 5, 0.0),
            (None, "re", "x", 0.0),
            (True, "eq", 1, 0.0),
            (1.0, "eq", 1, 1.0),
            (1, "ne", True, 1.0),
            ({"a": [0]}, "eq", {"a": [False]}, 0.0),
            (True, "ge", 1, 0.0),
            (True, "ge", True, 1.0),
            (True, "range.ee", [0, 2], 0.0),
            ([True], "lt", [2], 0.0),
            (True, "approx:0.1", 1, 0.0),
            ("1_0", "approx:0.1", 10, 0.0),
            (10**400, "approx:0.1", 1, 0.0),
        ],
    )
    def test_values_are_compared_by_every_method(
        self, tmp_path: Path, data: Any, method: str, ref: Any, value: float
    ) -> None:
        assert fits(tmp_path, data, method, ref) == value

    @pytest.mark.parametrize(
        ("method", "ref"), [("like", 1), ("re", "("), ("approx:x", 1), ("range.zz", [0, 1]), ("re", 5)]
    )
    def test_invalid_rule_gives_no_verdict(self, tmp_path: Path, method: str, ref: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            fits(tmp_path, "x", method, ref)

    def test_keys_and_list_positions_lead_to_a_value(self, tmp_path: Path) -> None:
        path = write(tmp_path, '{"a": [{"b": 1}]}')
        assert check_json(path, {"expect": [{"key": ["a", 0, "b"], "method": "eq", "ref": 1}]}).value == 1.0
        assert check_json(path, {"expect": [{"key": ["a", 1, "b"], "method": "eq", "ref": 1}]}).value == 0.0

    def test_text_and_boolean_cannot_be_an_index(self, tmp_path: Path) -> None:
        path = write(tmp_path, '{"a": "bc", "d": ["x", "y"]}')
        letter = {"expect": [{"key": ["a", 0], "method": "eq", "ref": "b"}]}
        entry = {"expect": [{"key": ["d", True], "method": "eq", "ref": "y"}]}
        assert [check_json(path, one).value for one in (letter, entry)] == [0.0, 0.0]
        assert [check_json(path, one, strict_upstream=True).value for one in (letter, entry)] == [1.0, 1.0]

    @pytest.mark.parametrize("method", ["eq", "ge", "le"])
    def test_strict_upstream_treats_true_as_1(self, method: str, tmp_path: Path) -> None:
        rules = {"expect": [{"key": ["k"], "method": method, "ref": 1}]}
        assert check_json(write(tmp_path, '{"k": true}'), rules, strict_upstream=True).value == 1.0

    def test_an_absent_key_is_named(self, tmp_path: Path) -> None:
        result = check_json(write(tmp_path, '{"a": 1}'), {"expect": [{"key": ["b"], "method": "eq", "ref": None}]})
        assert result.value == 0.0
        assert "'b' is missing" in result.reasons[0]

    def test_unexpected_keys_that_are_absent(self, tmp_path: Path) -> None:
        path, rules = write(tmp_path, '{"a": 1}'), {"unexpect": [{"key": ["b"], "method": "re", "ref": "x"}]}
        assert check_json(path, rules).value == 1.0
        assert check_json(path, rules, strict_upstream=True).value == 0.0

    def test_yaml_is_read_with_is_yaml(self, tmp_path: Path) -> None:
        path = write(tmp_path, "name: Test Account\nauthor:\n  email: Test@gmail.com\n", "_config.yaml")
        rules = {"expect": [{"key": ["author", "email"], "method": "eq", "ref": "Test@gmail.com"}]}
        assert check_json(path, rules, is_yaml=True).value == 1.0

    def test_dates_of_yaml_are_text(self, tmp_path: Path) -> None:
        path = write(tmp_path, "day: 2024-01-05\nat: 2024-01-05 10:00:00\n", "a.yaml")
        rules = {"expect": [{"key": ["day"], "method": "eq", "ref": "2024-01-05"},
                            {"key": ["at"], "method": "re", "ref": "^2024-01-05 10:"}]}  # fmt: skip
        assert [check_json(path, rules, is_yaml=True, strict_upstream=strict).value for strict in (False, True)] == [
            1,
            0,
        ]

    def test_yaml_with_object_tags_is_not_constructed(self, tmp_path: Path) -> None:
        path = write(tmp_path, f"k: !!python/object/apply:pathlib.Path.touch ['{tmp_path}/made']\n")
        result = check_json(path, {"expect": [{"key": ["k"], "method": "ne", "ref": 1}]}, is_yaml=True)
        assert result.value == 0.0
        assert not (tmp_path / "made").exists()

    @pytest.mark.parametrize("last", ["k: *i\n", "k: &k [*k]\n"])
    def test_yaml_that_expands_too_much_scores_0(self, tmp_path: Path, last: str) -> None:
        rows = ["a: &a [x,x,x,x,x,x,x,x,x]"]
        rows += [
            f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
        ]
        result = check_json(
            write(tmp_path, "\n".join(rows) + "\n" + last),
            {"expect": [{"key": ["k"], "method": "ne", "ref": 1}]},
            is_yaml=True,
        )
        assert result.value == 0.0
        assert "aliases" in result.reasons[0]

    @pytest.mark.parametrize("text", ["", "null", "{", "[" * 100_000])
    def test_text_that_is_not_json_scores_0(self, tmp_path: Path, text: str) -> None:
        assert check_json(write(tmp_path, text), {"expect": [{"key": [], "method": "ne", "ref": 1}]}).value == 0.0

    def test_rule_without_conditions_gives_no_verdict(self, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            check_json(write(tmp_path, "{}"), {})


class TestCheckDirectJsonObject:
    @pytest.mark.parametrize(
        ("result", "rules", "value"),
        [
            ({"a": "1", "b": "2"}, {"expected": {"a": "1"}}, 1.0),
            ({"a": "1"}, {"expected": {"a": "1", "b": None}}, 1.0),
            ({"a": 1}, {"expected": {"a": "1"}}, 0.0),
            ({"a": [1]}, {"expected": {"a": [1.0]}}, 1.0),
            ('{"a": true}\n', {"expected": {"a": True}}, 1.0),
            ("{'a': 'x'}", {"expected": {"a": "x"}}, 1.0),
            ("no json", {"expected": {"a": "x"}}, 0.0),
            (None, {"expected": {"a": "x"}}, 0.0),
            ([], {"expected": {"a": "x"}}, 0.0),
            ({"q": "best drip coffee maker"}, {"expected": {"q": "drip coffee maker"}, "expect_in_result": True}, 1.0),
            ({"q": None}, {"expected": {"q": "drip"}, "expect_in_result": True}, 0.0),
            ({"t": "ARN"}, {"expected": {"t": ["STO", "ARN"]}, "expect_in_result": True}, 1.0),
            ({"t": ["x", "ARN"]}, {"expected": {"t": ["STO", "ARN"]}, "expect_in_result": True}, 1.0),
            ({"t": "ARNX"}, {"expected": {"t": ["STO", "ARN"]}, "expect_in_result": True}, 0.0),
        ],
    )
    def test_forms_of_published_tasks(self, result: Any, rules: dict[str, Any], value: float) -> None:
        assert check_direct_json_object(result, rules).value == value
        if "no json" not in str(result):
            assert check_direct_json_object(result, rules, strict_upstream=True).value == value

    @pytest.mark.parametrize(
        ("result", "rules"),
        [
            ({"a": True}, {"expected": {"a": 1}}),
            ({"a": {"b": [0]}}, {"expected": {"a": {"b": [False]}}}),
            ({"a": [1, "x"]}, {"expected": {"a": [True]}, "expect_in_result": True}),
        ],
    )
    def test_true_does_not_equal_1(self, result: Any, rules: dict[str, Any]) -> None:
        assert check_direct_json_object(result, rules).value == 0.0
        assert check_direct_json_object(result, rules, strict_upstream=True).value == 1.0

    def test_types_in_lists_of_any_order(self) -> None:
        rules = {"expected": {"m": [1, True, 2]}, "ignore_list_order": True}
        assert check_direct_json_object({"m": [2.0, True, 1]}, rules).value == 1.0
        assert check_direct_json_object({"m": [2, 1, 1]}, rules).value == 0.0

    def test_an_apostrophe_does_not_break_the_text(self) -> None:
        rules = {"expected": {"name": "O'Brien"}}
        assert check_direct_json_object('{"name": "O\'Brien"}', rules).value == 1.0
        assert check_direct_json_object('{"name": "O\'Brien"}', rules, strict_upstream=True).value == 0.0

    @pytest.mark.parametrize(
        "rules",
        [
            {"expected": {"m": ["a", "b"]}, "ignore_list_order": True},
            {"expected": {"m": ["a", "b"], "ignore_list_order": True}},
        ],
    )
    def test_the_order_of_a_list_may_not_matter(self, rules: dict[str, Any]) -> None:
        """OSWorld f5d96daf sets the option beside `expected`, where upstream does not look."""
        assert check_direct_json_object({"m": ["b", "a"]}, rules).value == 1.0
        assert check_direct_json_object({"m": ["b", "b"]}, rules).value == 0.0
        assert check_direct_json_object({"m": ["b", "a"]}, rules, strict_upstream=True).value == 0.0

    def test_letters_of_a_text_keep_their_order(self) -> None:
        assert check_direct_json_object({"m": "ba"}, {"expected": {"m": "ab"}, "ignore_list_order": True}).value == 0.0

    def test_an_expectation_that_could_not_be_read(self) -> None:
        rules = {"expected": {"a": "__EVALUATION_FAILED__"}}
        with pytest.raises(EvaluatorFailed):
            check_direct_json_object({"a": "x"}, rules)
        assert check_direct_json_object({"a": "x"}, rules, strict_upstream=True).value == 0.0

    @pytest.mark.parametrize("rules", [{}, {"expected": None}, {"expected": {}}])
    def test_missing_expectation_gives_no_verdict(self, rules: dict[str, Any]) -> None:
        with pytest.raises(EvaluatorFailed):
            check_direct_json_object({"a": 1}, rules)

    def test_waa_published_lists_for_lists_only(self) -> None:
        rules = {"expected": {"t": ["ARN"]}, "expect_in_result": True}
        assert check_direct_json_object_waa({"t": "ARN"}, rules).value == 1.0
        assert check_direct_json_object_waa({"t": "ARN"}, rules, strict_upstream=True).value == 0.0
        assert check_direct_json_object_waa({"t": ["ARN"]}, rules, strict_upstream=True).value == 1.0


class TestIsIncludedAllJsonObjects:
    def test_additional_keys_are_allowed(self, tmp_path: Path) -> None:
        mine, gold = write(tmp_path, '{"a": 1, "b": 2}'), write(tmp_path, '{"a": 1}', "gold")
        assert is_included_all_json_objects(mine, gold).value == 1.0
        assert is_included_all_json_objects(mine, gold, strict_upstream=True).value == 0.0

    def test_true_does_not_equal_1(self, tmp_path: Path) -> None:
        mine, gold = write(tmp_path, '{"a": {"b": 1}}'), write(tmp_path, '{"a": {"b": true}}', "gold")
        assert is_included_all_json_objects(mine, gold).value == 0.0
        assert is_included_all_json_objects(mine, gold, strict_upstream=True).value == 1.0

    def test_empty_object_does_not_include_the_expectation(self, tmp_path: Path) -> None:
        mine, gold = write(tmp_path, "{}"), write(tmp_path, '{"a": 1}', "gold")
        assert is_included_all_json_objects(mine, gold).value == 0.0
        assert is_included_all_json_objects(mine, gold, strict_upstream=True).value == 1.0


class TestYamlOfToday:
    """What programs with YAML 1.2 read; published values are those of YAML 1.1."""

    @pytest.mark.parametrize(
        ("text", "entry", "value", "published"),
        [
            ("a: 12:30", ("a", "12:30"), 1, 0),
            ("a: 12:30", ("a", 750), 0, 1),
            ("a: 1:30.5", ("a", "1:30.5"), 1, 0),
            ("a: 1_000", ("a", "1_000"), 1, 0),
            ("a: 0o755", ("a", 493), 1, 0),
            ("a: 0755", ("a", 493), 1, 1),
            ("a: 0xff", ("a", 255), 1, 1),
            ("a: 1e3", ("a", 1000), 1, 0),
            ("a: 1.5e3", ("a", 1500), 1, 0),
            ("a: -.5", ("a", -0.5), 1, 0),
            ("a: +7", ("a", 7), 1, 1),
            ("a: 3.10", ("a", 3.1), 1, 1),
            ('a: "3.10"', ("a", "3.10"), 1, 1),
            ("a: 1.2.3", ("a", "1.2.3"), 1, 1),
            ("a: 08", ("a", "08"), 1, 1),
            ("a: yes", ("a", True), 1, 1),
            ("a: ~", ("a", None), 1, 1),
            ("on: push", ("on", "push"), 1, 0),
            ("no: 1", ("no", 1), 1, 0),
            ('"on": push', ("on", "push"), 1, 1),
            ("yes: 1", ("no", 1), 0, 0),
        ],
    )
    def test_values(self, tmp_path: Path, text: str, entry: tuple[str, Any], value: int, published: int) -> None:
        path, rules = write(tmp_path, text), {"expect": [{"key": entry[:1], "method": "eq", "ref": entry[1]}]}
        verdicts = [check_json(path, rules, is_yaml=True, strict_upstream=strict).value for strict in (False, True)]
        assert verdicts == [value, published]
