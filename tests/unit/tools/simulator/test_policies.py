"""Makespans of other ways to share out tasks, by hand."""

import random

import pytest

from tests.sampling import seed
from tools.simulator.policies import first_come, longest_first, lower_bound, static_slices


class TestLowerBound:
    def test_is_the_longest_task_or_the_whole_work(self) -> None:
        assert lower_bound([9.0, 1.0, 1.0], 2) == 9.0
        assert lower_bound([3.0, 3.0, 3.0], 2) == 4.5


class TestStaticSlices:
    def test_the_first_workers_get_one_more(self) -> None:
        assert static_slices([1.0, 2.0, 4.0, 8.0, 16.0], 2) == 24.0
        assert static_slices([1.0, 2.0, 4.0, 8.0], 3) == 8.0

    def test_some_workers_get_nothing(self) -> None:
        assert static_slices([5.0], 3) == 5.0


class TestFirstCome:
    def test_takes_in_the_order_of_the_list(self) -> None:
        assert first_come([1.0, 1.0, 8.0], 2) == 9.0

    def test_longest_first_is_better_here(self) -> None:
        assert longest_first([1.0, 1.0, 8.0], 2) == 8.0


@pytest.mark.parametrize("slots", [1, 3, 40])
def test_policies_respect_the_lower_bound_and_grahams_bound(slots: int) -> None:
    generator = random.Random(seed())  # noqa: S311 - a sample
    seconds = [generator.uniform(1, 100) for _ in range(50)]
    bound = lower_bound(seconds, slots)
    for policy in (static_slices, first_come, longest_first):
        assert policy(seconds, slots) >= bound - 1e-9
    assert longest_first(seconds, slots) <= bound * (4 / 3 + 1)
