import pytest

from backend.services.runs.forecast import smallest_difference


class TestSmallestDifference:
    @pytest.mark.parametrize(("episodes", "points"), [(24, 0.404), (100, 0.198), (400, 0.099)])
    def test_two_proportions_at_one_half(self, episodes: int, points: float) -> None:
        """(1.960 + 0.842) * sqrt(2 * 0.25 / n)."""
        assert smallest_difference(episodes) == pytest.approx(points, abs=0.001)

    def test_no_episodes_have_no_smallest_difference(self) -> None:
        assert smallest_difference(0) is None

    def test_never_more_than_everything(self) -> None:
        assert smallest_difference(1) == 1.0
