"""Small seeded samples of `make bench-statistics`."""

import numpy as np
import pytest

from tools.bench.inference import (
    COVERAGE,
    SimulatedShare,
    alignment_milliseconds,
    coverages,
    error_rates,
    outcomes,
    page,
    task_rates,
)


class TestCoverages:
    @pytest.mark.parametrize("tasks", [30, 154])
    def test_are_near_95_percent(self, tasks: int) -> None:
        shares = list(coverages(300, [tasks], [1, 2]))
        assert {share.what for share in shares} == {"rate or mean", "difference", "pass^2", "pass@2"}
        # Three standard errors of 300 boards are 3.8 points.
        assert [share for share in shares if not 0.912 <= share.share <= 0.988] == []


class TestErrorRates:
    def test_false_alarms_are_rare_and_regressions_found(self) -> None:
        shares = list(error_rates(100))
        alarms = [share.share for share in shares if share.what == "false alarm"]
        assert len(alarms) == 4
        assert all(share <= 0.11 for share in alarms)
        assert [share for share in shares if share.what != "false alarm" and share.share < 0.88] == []


class TestOutcomes:
    @pytest.mark.parametrize("fractional", [False, True])
    def test_have_the_rates_as_their_means(self, *, fractional: bool) -> None:
        draws = np.random.default_rng(1)
        rates = task_rates(draws, np.array([0.2, 0.7]), 40)
        scores = outcomes(draws, rates, 2_000, fractional=fractional)
        assert scores.shape == (2, 40, 2_000)
        assert np.abs(scores.mean(axis=2) - rates).max() < 0.06
        assert set(np.unique(scores)) == {0.0, 1.0} or fractional


class TestPage:
    def test_says_what_missed_its_aim(self) -> None:
        shares = [
            SimulatedShare("difference", 30, 2, "0 or 1", 0.951, COVERAGE),
            SimulatedShare("false alarm", 154, 1, "0 or 1", 0.08, (0.03, 0.06)),
        ]
        lines = page(shares, 12.4, 10, 20).splitlines()
        assert "| difference | 30 | 2 | 0 or 1 | 95.1% | 94% to 96% (met) |" in lines
        assert "| false alarm | 154 | 1 | 0 or 1 | 8.0% | 3% to 6% (missed) |" in lines


class TestAlignmentMilliseconds:
    def test_is_measured(self) -> None:
        assert alignment_milliseconds() > 0
