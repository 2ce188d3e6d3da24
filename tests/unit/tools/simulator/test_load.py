"""Attempts of the load write as many steps as WAA allows; the first ones what is left of them."""

import random
from statistics import fmean

import pytest

from tools.simulator.durations import STEP_BUDGET
from tools.simulator.load import fate_of


def test_attempts_take_the_mean_and_all_steps() -> None:
    generator = random.Random(1)  # noqa: S311 - a sample
    found = [fate_of(125.0, generator, first=False) for _ in range(2_000)]
    assert {fate.steps for fate in found} == {STEP_BUDGET}
    assert fmean(fate.length.total for fate in found) == pytest.approx(125.0, rel=0.05)


def test_initial_episodes_are_midway() -> None:
    generator = random.Random(1)  # noqa: S311 - a sample
    found = [fate_of(125.0, generator, first=True) for _ in range(2_000)]
    assert fmean(fate.steps for fate in found) == pytest.approx(STEP_BUDGET / 2, rel=0.1)
    assert fmean(fate.length.total for fate in found) == pytest.approx(125.0 / 2, rel=0.1)


def test_attempts_that_do_not_end_write_nothing() -> None:
    assert fate_of(None, random.Random(1), first=True).length.prepare > 86_400  # noqa: S311 - a sample
