import pytest

from backend.domain.evaluators.metrics.goals.number_in_text import number_in_text


class TestNumberInText:
    @pytest.mark.parametrize("text", ["38", " 38\n", "38.0", "+38", "3.8e1"])
    def test_the_number_in_any_form(self, text: str) -> None:
        assert number_in_text(text, {"expected": 38}).value == 1.0

    def test_thousands(self) -> None:
        assert number_in_text("1,234.5", {"expected": 1234.5}).value == 1.0

    @pytest.mark.parametrize("text", ["", "none", "38 cities.csv 4", "37", "-38"])
    def test_another_number_or_not_one(self, text: str) -> None:
        assert number_in_text(text, {"expected": 38}).value == 0.0

    def test_within_the_tolerance(self) -> None:
        assert number_in_text("466.05", {"expected": 466.053, "tolerance": 0.005}).value == 1.0

    def test_no_text(self) -> None:
        assert number_in_text(None, {"expected": 1}).value == 0.0
