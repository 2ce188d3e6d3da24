from backend.domain.evaluators.metrics.general.exact_match import exact_match


class TestExactMatch:
    def test_equal_values_match(self) -> None:
        assert exact_match("true", {"expected": "true"}).value == 1.0

    def test_other_type_does_not_match(self) -> None:
        assert exact_match("1", {"expected": 1}).value == 0.0

    def test_reason_for_a_missing_value_names_the_expectation(self) -> None:
        result = exact_match(None, {"expected": "on"})
        assert result.value == 0.0
        assert "'on'" in result.reasons[0]

    def test_line_ends_of_windows(self) -> None:
        for actual, expected, value in (("x\r\n", "x\n", 1.0), ("x\n", "x\r\n", 1.0), ("x\n", "x", 0.0)):
            assert exact_match(actual, {"expected": expected}).value == value
            assert exact_match(actual, {"expected": expected}, strict_upstream=True).value == 0.0
