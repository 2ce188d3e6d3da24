from hypothesis import given
from hypothesis import strategies as st

from backend.domain.scheduling.priorities import AGING_SECONDS, HIGHEST, LOWEST, NORMAL, effective


class TestEffective:
    def test_waiting_raises_it_step_by_step(self) -> None:
        assert [effective(NORMAL, seconds) for seconds in (0, 599, 600, 1800)] == [0, 0, 1, 3]

    def test_waiting_raises_the_priority_to_the_highest_within_the_documented_time(self) -> None:
        assert effective(LOWEST, 20 * AGING_SECONDS) == HIGHEST
        assert effective(LOWEST, 20 * AGING_SECONDS - 1) < HIGHEST

    @given(st.integers(LOWEST, HIGHEST), st.floats(-1e6, 1e9))
    def test_effective_priority_stays_in_range_and_is_never_lowered(self, priority: int, seconds: float) -> None:
        assert priority <= effective(priority, seconds) <= HIGHEST
