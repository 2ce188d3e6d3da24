"""Expected values are scipy 1.16's `scipy.stats.spearmanr(...).statistic`."""

import pytest

from backend.domain.statistics.correlation import ranked, spearman


class TestRanked:
    def test_equal_values_share_the_mean_of_their_ranks(self) -> None:
        assert ranked([30, 10, 30, 20]) == [3.5, 1.0, 3.5, 2.0]

    def test_of_nothing(self) -> None:
        assert ranked([]) == []


class TestSpearman:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),
            ([1, 2, 3, 4], [1, 2, 2, 4], 0.9486832980505138),
            ([1, 2, 3], [9, 4, 1], -1.0),
            ([1.0, 2.5, 30.0], [2, 3, 1000], 1.0),
        ],
    )
    def test_is_scipys(self, first: list[float], second: list[float], expected: float) -> None:
        assert spearman(first, second) == pytest.approx(expected, abs=1e-12)

    def test_two_things_say_nothing(self) -> None:
        assert spearman([1, 2], [2, 1]) is None

    def test_nor_does_a_measure_that_never_changes(self) -> None:
        assert spearman([1, 2, 3], [1, 1, 1]) is None

    def test_both_must_be_of_the_same_things(self) -> None:
        with pytest.raises(ValueError, match="3 values beside 2"):
            spearman([1, 2, 3], [1, 2])
