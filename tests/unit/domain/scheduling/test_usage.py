import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.scheduling.usage import HALF_LIFE, decay_usage


class TestDecayed:
    def test_usage_counts_half_after_the_half_life(self) -> None:
        assert decay_usage(100.0, 0, HALF_LIFE) == pytest.approx(50.0)

    def test_usage_halves_in_an_hour(self) -> None:
        assert decay_usage(100.0, 0, 3600.0) == pytest.approx(50.0)

    def test_slots_in_use_add_their_seconds(self) -> None:
        assert decay_usage(0.0, 3, 1.0) == pytest.approx(3.0, rel=0.01)

    def test_a_clock_that_went_back_changes_nothing(self) -> None:
        assert decay_usage(7.0, 3, -100.0) == pytest.approx(7.0)

    @given(st.floats(0, 1e6), st.integers(0, 1000), st.floats(0, 1e5), st.floats(0, 1e5))
    def test_looking_in_between_changes_nothing(self, used: float, in_use: int, one: float, two: float) -> None:
        between = decay_usage(decay_usage(used, in_use, one), in_use, two)
        assert between == pytest.approx(decay_usage(used, in_use, one + two), rel=1e-6, abs=1e-6)
