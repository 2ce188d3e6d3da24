import pytest

from backend.domain.evaluators.metrics.goals.settings_match import settings_match


class TestSettingsMatch:
    def test_texts_are_compared_exactly(self) -> None:
        assert settings_match("a=true\nb=5\n", {"expected": {"a": "true", "b": 5}}).value == 1.0

    @pytest.mark.parametrize(
        ("text", "expected", "value"),
        [
            ("x=true", True, 1.0),
            ("x=True", True, 1.0),
            ("x=FALSE", False, 1.0),
            ("x='true'", True, 1.0),
            ("x=1", True, 0.0),
            ("x=true", 1, 0.0),
            ("x=0", False, 0.0),
            ("x=1.0", 1, 1.0),
            ("x=1", 1.0, 1.0),
            ("x=uint32 2", 2, 1.0),
            ("x=1e3", 1000, 1.0),
            ("x=1_0", 10, 0.0),
            ("x=1.10", "1.1", 0.0),
            ("x=", 0, 0.0),
            ("x=yes", True, 0.0),
            ("x=5", [True, 5], 1.0),
        ],
    )
    def test_values_are_compared_by_type(self, text: str, expected: object, value: float) -> None:
        assert settings_match(text, {"expected": {"x": expected}}).value == value

    @pytest.mark.parametrize("text", ["t=nan", "t=inf", "t=1_0", "t=true"])
    def test_text_that_is_not_a_number_is_in_no_range(self, text: str) -> None:
        assert settings_match(text, {"expected": {"t": {"min": 0}}}).value == 0.0

    def test_one_of_several_values_suffices(self) -> None:
        assert settings_match("w=uint32 2", {"expected": {"w": ["2", "uint32 2"]}}).value == 1.0

    @pytest.mark.parametrize(("text", "value"), [("t=700", 1.0), ("t=699", 0.0), ("t=", 0.0), ("t=often", 0.0)])
    def test_range_includes_its_bounds(self, text: str, value: float) -> None:
        assert settings_match(text, {"expected": {"t": {"min": 700, "max": 900}}}).value == value

    def test_partial_scores_the_share_of_goals(self) -> None:
        assert settings_match("a=1", {"expected": {"a": "1", "b": "1"}, "partial": True}).value == 0.5

    def test_a_setting_that_is_not_set_is_named(self) -> None:
        assert "not set" in settings_match("", {"expected": {"a": "1"}}).reasons[0]

    def test_changed_kept_setting_scores_0(self) -> None:
        assert settings_match("a=1\nb=2", {"expected": {"a": "1"}, "keeps": {"b": "1"}}).value == 0.0

    def test_settings_that_could_not_be_read(self) -> None:
        assert settings_match(None, {"expected": {"a": "1"}}).value == 0.0
