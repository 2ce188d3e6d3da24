import pytest

from backend.domain.scheduling.start_estimate import starts_in


class TestStartsIn:
    @pytest.mark.parametrize(
        ("ahead", "seconds", "remaining", "at_once", "expected"),
        [
            (0, 0, [40], 1, 40),
            (2, 200, [40], 1, 240),
            (0, 0, [40, 10, 90], 8, 10),
            (2, 200, [40, 10, 90], 3, 90),
            # The first of the two before it takes over what ends first, and ends before the last of those that run.
            (1, 5, [10, 100], 2, 57.5),
            (3, 300, [40, 10, 90], 3, 440 / 3),
            # Two have to end before one may begin.
            (0, 0, [40, 10, 90], 2, 40),
            (1, 100, [40, 10, 90], 2, 90),
        ],
    )
    def test_start_is_when_enough_episodes_have_ended(
        self, ahead: int, seconds: float, remaining: list[float], at_once: int, expected: float
    ) -> None:
        assert starts_in(ahead, seconds, remaining, at_once) == pytest.approx(expected)

    def test_unknown_without_slots_or_with_a_limit_of_zero(self) -> None:
        assert starts_in(0, 0, [], 4) is None
        assert starts_in(0, 0, [40.0], 0) is None

    def test_unknown_while_an_overdue_episode_runs(self) -> None:
        assert starts_in(0, 0, [0.0, 50.0], 2) is None
        assert starts_in(1, 100, [0.0, 50.0], 2) == 50
