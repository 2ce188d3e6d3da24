"""The lengths of WAA's tasks: what is recorded comes back out of what is drawn."""

from statistics import fmean, pstdev

import pytest

from tools.simulator.durations import MEAN_SECONDS, played, typical_lengths, waa_tasks


class TestWaaTasks:
    def test_has_them_all_in_the_files_order(self) -> None:
        tasks = waa_tasks()
        assert len({task.name for task in tasks}) == 154
        assert [tasks[0].domain, tasks[-1].domain] == ["file_explorer", "clock"]


class TestTypicalLengths:
    def test_the_mean_is_that_of_the_paper(self) -> None:
        assert fmean(each.total for each in typical_lengths(3)) == pytest.approx(MEAN_SECONDS)

    def test_the_same_seed_gives_the_same(self) -> None:
        assert typical_lengths(3) == typical_lengths(3) != typical_lengths(4)

    def test_tasks_on_which_people_need_more_steps_are_longer(self) -> None:
        by: dict[str, list[float]] = {}
        for task, length in zip(waa_tasks(), typical_lengths(3), strict=True):
            by.setdefault(task.domain, []).append(length.play)
        assert fmean(by["libreoffice_calc"]) > 1.5 * fmean(by["vs_code"])


class TestPlayed:
    def test_without_noise_it_is_the_typical_one(self) -> None:
        typical = typical_lengths(3)
        assert [each.total for each in played(typical, 1, noise=0.0)] == pytest.approx([t.total for t in typical])

    def test_differs_by_a_factor_of_mean_one(self) -> None:
        typical = typical_lengths(3)
        factors = [
            now.play / usual.play
            for seed in range(30)
            for now, usual in zip(played(typical, seed, noise=0.2), typical, strict=True)
        ]
        assert fmean(factors) == pytest.approx(1.0, abs=0.02)
        assert pstdev(factors) == pytest.approx(0.2, abs=0.02)
