import random

import pytest

from backend.domain.statistics.latencies import CLASSES, add_histograms, class_of, quantile


class TestQuantile:
    @pytest.mark.parametrize("share", [0.5, 0.95])
    def test_is_within_nine_percent(self, share: float) -> None:
        numbers = random.Random(1)
        seconds = sorted(numbers.lognormvariate(1.5, 0.9) for _ in range(5000))
        counts = [0] * CLASSES
        for each in seconds:
            counts[class_of(each)] += 1
        found = quantile(counts, share)
        assert found == pytest.approx(seconds[int(share * len(seconds)) - 1], rel=0.1)

    def test_no_latencies_have_no_quantile(self) -> None:
        assert quantile([], 0.5) is None

    def test_extreme_latencies_have_a_bucket(self) -> None:
        assert (class_of(0.0), class_of(1e9)) == (0, CLASSES - 1)

    def test_the_sum_of_two(self) -> None:
        assert add_histograms([1, 2], [3]) == [4, 2]
        assert add_histograms([], [3]) == [3]
