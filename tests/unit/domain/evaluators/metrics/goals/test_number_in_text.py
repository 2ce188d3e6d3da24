import pytest

from backend.domain.evaluators.metrics.goals.number_in_text import number_in_text


class TestNumberInText:
    @pytest.mark.parametrize("text", ["38", " 38\n", "38.0", "+38", "3.8e1"])
    def test_number_is_found_in_any_form(self, text: str) -> None:
        assert number_in_text(text, {"expected": 38}).value == 1.0

    @pytest.mark.parametrize(
        ("text", "expected", "value"),
        [
            (".5", 5, 0),
            (".5", 0.5, 1),
            ("-.5", -0.5, 1),
            ("\N{MINUS SIGN}5", 5, 0),
            ("\N{MINUS SIGN}5", -5, 1),
            ("42,5", 42.5, 0),
            ("42,5", 425, 0),
            ("10^3", 1000, 1),
            ("1/2", 0.5, 1),
            ("about 1,234 km", 1234, 1),
        ],
    )
    def test_signs_and_number_forms_are_read(self, text: str, expected: float, value: float) -> None:
        assert number_in_text(text, {"expected": expected}).value == value

    def test_thousands_separators_are_read(self) -> None:
        assert number_in_text("1,234.5", {"expected": 1234.5}).value == 1.0

    @pytest.mark.parametrize("text", ["", "none", "38 cities.csv 4", "37", "-38"])
    def test_another_or_several_numbers_score_0(self, text: str) -> None:
        assert number_in_text(text, {"expected": 38}).value == 0.0

    def test_number_within_the_tolerance_passes(self) -> None:
        assert number_in_text("466.05", {"expected": 466.053, "tolerance": 0.005}).value == 1.0

    def test_missing_text_scores_0(self) -> None:
        assert number_in_text(None, {"expected": 1}).value == 0.0
