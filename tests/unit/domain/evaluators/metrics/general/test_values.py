from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.general.check_include_exclude import check_include_exclude
from backend.domain.evaluators.metrics.general.exact_match import exact_match, exact_match_waa
from backend.domain.evaluators.metrics.general.fuzzy_match import fuzzy_match
from backend.domain.evaluators.metrics.general.is_in_list import is_in_list
from backend.domain.evaluators.metrics.general.literal_match import literal_match
from backend.domain.evaluators.metrics.general.match_in_list import match_in_list
from tests.error_codes import raises_code

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda some: st.lists(some, max_size=3),
    max_leaves=5,
)


class TestExactMatch:
    @given(value=VALUES)
    @settings(max_examples=30, deadline=None)
    def test_a_value_equals_itself(self, value: Any) -> None:
        assert exact_match(value, {"expected": value}).value == 1.0

    @pytest.mark.parametrize(
        ("result", "expected", "value", "published"),
        [
            (True, 1, 0.0, 1.0),
            (1, True, 0.0, 1.0),
            (0, False, 0.0, 1.0),
            (True, 1.0, 0.0, 1.0),
            ([True, "x"], [1, "x"], 0.0, 1.0),
            ({"a": 0}, {"a": False}, 0.0, 1.0),
            (1, 1.0, 1.0, 1.0),
            ("1", 1, 0.0, 0.0),
        ],
    )
    def test_values_have_a_type(self, result: Any, expected: Any, value: float, published: float) -> None:
        assert exact_match(result, {"expected": expected}).value == value
        assert exact_match(result, {"expected": expected}, strict_upstream=True).value == published

    def test_waa_writes_answers_as_numbers(self) -> None:
        """Its tasks of Edge expect 1.0 where the getter says true."""
        assert exact_match_waa(True, {"expected": 1.0}).value == 1.0  # noqa: FBT003 - a result like any other.
        assert exact_match_waa(False, {"expected": 1.0}).value == 0.0  # noqa: FBT003
        assert exact_match_waa(True, {"expected": True}).value == 1.0  # noqa: FBT003
        assert exact_match_waa([True], {"expected": [1]}).value == 0.0
        assert exact_match_waa([True], {"expected": [1]}, strict_upstream=True).value == 1.0

    def test_lists_are_compared_in_order(self) -> None:
        wanted = {"expected": [True, "07:00 PM", "07:00 AM"]}
        assert exact_match([True, "07:00 PM", "07:00 AM"], wanted).value == 1.0
        assert exact_match([True, "07:00 AM", "07:00 PM"], wanted).value == 0.0

    @pytest.mark.parametrize("rules", [{}, None, "x"])
    def test_rules_without_an_expectation(self, rules: Any) -> None:
        with pytest.raises(EvaluatorFailed):
            exact_match("x", rules)


class TestCheckIncludeExclude:
    def test_a_list_is_looked_into(self) -> None:
        assert check_include_exclude(["a.txt", "b.txt"], {"include": ["a.txt"], "exclude": ["c.txt"]}).value == 1.0

    def test_number_does_not_include_text(self) -> None:
        assert check_include_exclude(5, {"include": ["5"]}).value == 0.0  # type: ignore[arg-type]

    def test_string_instead_of_a_list_is_refused(self) -> None:
        with raises_code(EvaluatorFailed, "invalid_rule"):
            check_include_exclude("cab", {"include": "abc"})

    def test_nothing_to_look_for(self) -> None:
        with pytest.raises(EvaluatorFailed):
            check_include_exclude("x", {"include": [], "exclude": []})


class TestMatchInList:
    def test_value_in_the_list_matches(self) -> None:
        assert match_in_list("Bing", {"expected": ["Microsoft Bing", "Bing"]}).value == 1.0

    def test_true_does_not_equal_1(self) -> None:
        assert match_in_list(1, {"expected": [True, 2]}).value == 0.0
        assert match_in_list(1, {"expected": [True, 2]}, strict_upstream=True).value == 1.0

    def test_part_of_a_listed_value_does_not_match(self) -> None:
        assert match_in_list("Microsoft", {"expected": ["Microsoft Bing"]}).value == 0.0

    def test_expectation_must_be_a_list(self) -> None:
        with pytest.raises(EvaluatorFailed):
            match_in_list("i", {"expected": "Bing"})


class TestIsInList:
    def test_among_the_found(self) -> None:
        assert is_in_list(["/home/user/Desktop/hello"], {"expected": "/home/user/Desktop/hello"}).value == 1.0

    def test_true_does_not_equal_1(self) -> None:
        assert is_in_list([1, "x"], {"expected": True}).value == 0.0
        assert is_in_list([1, "x"], {"expected": True}, strict_upstream=True).value == 1.0

    def test_a_part_of_a_text(self) -> None:
        assert is_in_list("a hello b", {"expected": "hello"}).value == 1.0

    @pytest.mark.parametrize("found", [None, 5, [], "x"])
    def test_missing_value_is_not_in_the_list(self, found: Any) -> None:
        assert is_in_list(found, {"expected": "hello"}).value == 0.0


class TestLiteralMatch:
    def test_a_row_and_a_web_page(self) -> None:
        """OSWorld 5990457f: numbers of a sheet against texts of a page."""
        row, page = ["Yann LeCun", 345074, 147], ["YANN LECUN", "345074", "147"]
        assert literal_match(row, page, type="list", ignore_case=True).value == 1.0
        assert literal_match(row, page, type="list").value == 0.0

    def test_lists_of_other_lengths(self) -> None:
        assert literal_match(["a"], ["a", "b"], type="list").value == 0.0

    def test_values_are_compared_as_texts(self) -> None:
        assert literal_match(5, "5").value == 1.0

    def test_none_does_not_equal_the_text_none(self) -> None:
        assert literal_match(None, "None").value == 0.0
        assert literal_match(None, "None", strict_upstream=True).value == 1.0

    def test_unknown_type_gives_no_verdict(self) -> None:
        with pytest.raises(EvaluatorFailed):
            literal_match("a", "a", type="dict")


class TestFuzzyMatch:
    def test_similarity_equals_rapidfuzz_ratio(self) -> None:
        assert fuzzy_match("kitten", {"expected": "sitting"}).value == pytest.approx(0.6153846153846154, abs=1e-9)

    @given(left=st.text(max_size=20), right=st.text(max_size=20))
    @settings(max_examples=30, deadline=None)
    def test_similarity_is_symmetric_and_between_0_and_1(self, left: str, right: str) -> None:
        value = fuzzy_match(left, {"expected": right}).value
        assert 0.0 <= value <= 1.0
        assert value == fuzzy_match(right, {"expected": left}).value

    def test_missing_value_has_similarity_0(self) -> None:
        assert fuzzy_match(None, {"expected": "x"}).value == 0.0
