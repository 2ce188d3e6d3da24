"""Shares over time, in a small simulation of episodes of different length."""

import heapq
import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.scheduling.fair_share import ShareHolder, deficits
from backend.domain.scheduling.usage import decay_usage


def shares(weights: Mapping[str, float], lengths: Mapping[str, float], slots: int, seconds: float) -> dict[str, float]:
    """Share of slot-seconds of each, where all always have work."""
    in_use, used = dict.fromkeys(weights, 0), dict.fromkeys(weights, 0.0)
    served, now, chance = dict.fromkeys(weights, 0.0), 0.0, random.Random(1)
    ends: list[tuple[float, str]] = []
    while now < seconds:
        while len(ends) < slots:
            lacking = deficits({key: ShareHolder(weights[key], in_use[key], used[key]) for key in weights})
            winner = max(lacking, key=lambda key: lacking[key])
            in_use[winner] += 1
            heapq.heappush(ends, (now + lengths[winner] * chance.uniform(0.5, 1.5), winner))
        then, loser = heapq.heappop(ends)
        for key in weights:
            served[key] += in_use[key] * (then - now)
            used[key] = decay_usage(used[key], in_use[key], then - now)
        in_use[loser] -= 1
        now = then
    return {key: value / sum(served.values()) for key, value in served.items()}


class TestDeficits:
    def test_idle_project_lacks_its_whole_share(self) -> None:
        assert deficits({"a": ShareHolder(1, 3, 0), "b": ShareHolder(1, 0, 0)}) == {"a": -1.0, "b": 2.0}

    def test_past_underuse_counts_one_slot_at_most(self) -> None:
        result = deficits({"a": ShareHolder(1, 1, 1e9), "b": ShareHolder(1, 1, 0)})
        assert result == {"a": -0.5, "b": 1.5}

    def test_twenty_slot_seconds_too_few_are_one_slot(self) -> None:
        result = deficits({"a": ShareHolder(1, 0, 20), "b": ShareHolder(1, 0, 0)})
        assert result == {"a": 0.0, "b": 1.0}

    @given(st.lists(st.tuples(st.floats(0.01, 1000), st.integers(0, 500)), min_size=1, max_size=20))
    def test_deficits_sum_to_one_slot_without_past_usage(self, given_: list[tuple[float, int]]) -> None:
        sharers = {number: ShareHolder(weight, in_use, 0.0) for number, (weight, in_use) in enumerate(given_)}
        assert sum(deficits(sharers).values()) == pytest.approx(1.0, abs=1e-6)

    @pytest.mark.parametrize("slots", [3, 7, 40])
    @pytest.mark.parametrize("weights", [{"a": 1, "b": 1}, {"a": 3, "b": 2}, {"a": 1, "b": 1, "c": 5}])
    def test_shares_are_right_over_time_though_lengths_differ(self, weights: dict[str, float], slots: int) -> None:
        lengths = {"a": 200.0, "b": 20.0, "c": 60.0}
        result = shares(weights, lengths, slots, 40_000.0)
        for key, weight in weights.items():
            assert result[key] == pytest.approx(weight / sum(weights.values()), rel=0.05)

    @settings(max_examples=8, deadline=None)
    @given(st.dictionaries(st.sampled_from("abcd"), st.floats(0.5, 4), min_size=2), st.integers(4, 60))
    def test_shares_follow_any_weights(self, weights: dict[str, float], slots: int) -> None:
        result = shares(weights, dict.fromkeys(weights, 30.0), slots, 10_000.0)
        for key, weight in weights.items():
            assert result[key] == pytest.approx(weight / sum(weights.values()), rel=0.05)
