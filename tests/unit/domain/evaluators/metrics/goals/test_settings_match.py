import pytest

from backend.domain.evaluators.metrics.goals.settings_match import settings_match


class TestSettingsMatch:
    def test_values_as_text(self) -> None:
        assert settings_match("a=true\nb=5\n", {"expected": {"a": "true", "b": 5}}).value == 1.0

    def test_one_of_several_values(self) -> None:
        assert settings_match("w=uint32 2", {"expected": {"w": ["2", "uint32 2"]}}).value == 1.0

    @pytest.mark.parametrize(("text", "value"), [("t=700", 1.0), ("t=699", 0.0), ("t=", 0.0), ("t=often", 0.0)])
    def test_a_range(self, text: str, value: float) -> None:
        assert settings_match(text, {"expected": {"t": {"min": 700, "max": 900}}}).value == value

    def test_the_share_counts_if_asked_for(self) -> None:
        assert settings_match("a=1", {"expected": {"a": "1", "b": "1"}, "partial": True}).value == 0.5

    def test_a_setting_that_is_not_set_is_named(self) -> None:
        assert "not set" in settings_match("", {"expected": {"a": "1"}}).reasons[0]

    def test_what_should_have_been_kept(self) -> None:
        assert settings_match("a=1\nb=2", {"expected": {"a": "1"}, "keeps": {"b": "1"}}).value == 0.0

    def test_settings_that_could_not_be_read(self) -> None:
        assert settings_match(None, {"expected": {"a": "1"}}).value == 0.0
