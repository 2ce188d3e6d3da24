import pytest

from tools.bench.schedule_page import HEAD, makespans
from tools.simulator.makespans import Play

TEXT = " ".join(HEAD.split())
"""Without its line breaks."""
RUNS = [[Play(100.0, 1.2, 2.0, 1.3, 1.1, 1.0)] * 2]


def test_unmeasured_figures_are_not_promised() -> None:
    alone = makespans({0.2: RUNS})
    assert "standard deviation 0.2; no other was played." in alone
    assert "| 0.2 | first | 1.200 | 2.000 | 1.300 | 1.100 | 1.000 |" in alone


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_measured_figures_are_in_the_table(noise: float) -> None:
    both = makespans({0.2: RUNS, noise: RUNS})
    assert "others are in the table, too." in both
    assert f"| {noise:g} | second |" in both


def test_how_many_wait_only_the_table_says() -> None:
    assert "more than 50,000" in TEXT


def test_page_reports_the_number_of_steps() -> None:
    assert "An attempt takes 125 s in the mean. It writes 15 steps" in TEXT
