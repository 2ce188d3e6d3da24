import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.distributions import bars, histogram, spread


class TestSpread:
    def test_five_numbers_and_a_mean(self) -> None:
        assert spread([7, 1, 3, 10]) == (4, 1, 2.5, 5.0, 7.75, 10, 5.25)

    def test_one_value_is_every_quantile(self) -> None:
        assert spread([4]) == (1, 4, 4, 4, 4, 4, 4)

    def test_no_values_have_no_spread(self) -> None:
        assert spread([]) is None

    @given(st.lists(st.integers(0, 100), min_size=1))
    def test_agrees_with_numpy(self, values: list[int]) -> None:
        result = spread(values)
        assert result is not None
        assert result[1:6] == pytest.approx(np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))


class TestBars:
    @pytest.mark.parametrize(
        ("highest", "words"),
        [(0, ["0"]), (3, ["0", "1", "2", "3"]), (30, ["0 to 2", "3 to 5", "27 to 29", "30 to 32"])],
    )
    def test_labels_of_integer_bars(self, highest: int, words: list[str]) -> None:
        result = [bar.label for bar in bars(highest)]
        assert result[: len(words) // 2] + result[-(len(words) - len(words) // 2) :] == words

    @given(st.lists(st.integers(0, 1000), min_size=1))
    def test_every_value_lies_in_one_bar(self, values: list[int]) -> None:
        into = bars(max(values))
        assert len(into) <= 13
        assert sum(histogram(values, into)) == len(values)
