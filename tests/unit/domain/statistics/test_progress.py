import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.progress import EpisodeProgress, bins, curve


class TestCurve:
    def test_progress_curve_equals_the_worked_example(self) -> None:
        result = curve([EpisodeProgress(2, [0, 3], 1.0), EpisodeProgress(3, [3], 0.0), EpisodeProgress(3, [], 0.0)])
        assert [(one.step, one.reached) for one in result] == [(0, 1), (1, 1), (2, 1), (3, 3)]
        assert result[-1].share == pytest.approx(3 / 8)

    def test_no_checkpoints_give_an_empty_curve(self) -> None:
        assert curve([]) == []
        assert curve([EpisodeProgress(4, [], 0.0)]) == [(0, 0, 0.0)]

    @given(st.lists(st.lists(st.integers(0, 30), max_size=6), max_size=8))
    def test_never_falls_and_ends_at_the_pooled_share(self, made: list[list[int]]) -> None:
        result = curve([EpisodeProgress(6, steps, 0.0) for steps in made])
        shares = [one.share for one in result]
        assert shares == sorted(shares)
        if made:
            assert shares[-1] == pytest.approx(sum(map(len, made)) / (6 * len(made)))


class TestBins:
    def test_every_episode_is_in_one_bin(self) -> None:
        result = bins([EpisodeProgress(4, [1] * number, float(number == 4)) for number in (0, 1, 2, 3, 4, 4)])
        assert [(one.label, one.episodes, one.score) for one in result] == [
            ("none", 1, 0.0),
            ("up to 25 %", 1, 0.0),
            ("up to 50 %", 1, 0.0),
            ("up to 75 %", 1, 0.0),
            ("over 75 %", 0, None),
            ("all", 2, 1.0),
        ]
