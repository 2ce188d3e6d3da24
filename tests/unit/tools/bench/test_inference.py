"""Small seeded samples of `make bench-statistics`."""

import numpy as np
import pytest

from backend.domain.statistics.intervals import cluster_mean_of_columns
from backend.domain.statistics.passes import EXTREMES
from tools.bench.inference import (
    COVERAGE,
    SimulatedShare,
    alignment_milliseconds,
    coverages,
    error_rates,
    intervals_of,
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

    def test_cover_every_k_up_to_the_passes(self) -> None:
        shares = [share for share in coverages(200, [30], [8]) if share.what.startswith("pass")]
        assert {share.what for share in shares} == {f"pass{sign}{k}" for sign in "@^" for k in range(2, 9)}
        # Three standard errors of 200 boards are 4.6 points; without EXTREMES pass^5 has 90.5 %.
        assert [share for share in shares if share.share < 0.904] == []

    def test_are_of_the_intervals_that_boards_show(self) -> None:
        draws = np.random.default_rng(4)
        values = draws.choice([0.0, 0.1, 0.4, 1.0], (20, 30), p=[0.5, 0.1, 0.1, 0.3])
        ones = np.ones(30)
        for interval, row in zip(intervals_of(values, extremes=EXTREMES), values, strict=True):
            assert interval == pytest.approx(cluster_mean_of_columns(ones, row, extremes=EXTREMES))


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
    def test_alignment_time_is_measured(self) -> None:
        assert alignment_milliseconds() > 0
