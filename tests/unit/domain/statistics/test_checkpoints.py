"""Worked examples of WindowsWorld's analyses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.checkpoints import (
    Gap,
    Mean,
    ScoredEpisode,
    agent_s_final,
    agent_s_int,
    gaps,
    language_gaps,
    pooled_s_int,
    step_gaps,
)


def row(task: str, level: str, s_int: float | None, s_final: float | None, **more: Any) -> ScoredEpisode:
    values: dict[str, Any] = {"persona": "Designer", "apps": 1, "steps": 10, "solved": s_final == 1.0, "listed": 4}
    return ScoredEpisode(task=task, level=level, s_int=s_int, s_final=s_final, **(values | more))


ROWS = [
    row("a", "L1", 1.0, 1.0, listed=2, steps=4),
    row("b", "L2", 0.5, 0.0, listed=4, steps=20, apps=2),
    row("c", "L3", 0.25, 0.0, listed=8, steps=30, apps=3, persona="Accountant"),
    row("d", "L4", None, 1.0, listed=0, steps=6),
]


class TestAgent:
    def test_s_int_is_a_mean_over_tasks_of_l1_to_l3(self) -> None:
        """(1 + 0.5 + 0.25) / 3; L4 has none."""
        assert agent_s_int(ROWS) == pytest.approx(Mean(1.75 / 3, 3))

    def test_pooled_counts_checkpoints(self) -> None:
        """(2 + 2 + 2) of 14."""
        assert pooled_s_int(ROWS) == pytest.approx(6 / 14)

    def test_s_final_is_a_share_of_l1_to_l4(self) -> None:
        assert agent_s_final(ROWS) == Mean(0.5, 4)

    def test_repeats_of_a_task_are_one_task(self) -> None:
        """Task a has a mean of 0.5, task b 0: 0.25, and not 1/3."""
        rows = [row("a", "L1", 1.0, 1.0), row("a", "L1", 0.0, 0.0), row("b", "L1", 0.0, 0.0)]
        assert agent_s_int(rows) == Mean(0.25, 2)

    def test_no_checkpoints_are_undefined_and_not_zero(self) -> None:
        assert (agent_s_int(ROWS[3:]), pooled_s_int(ROWS[3:]), agent_s_final([])) == (None, None, None)


class TestGaps:
    def test_gaps_by_level(self) -> None:
        assert gaps(ROWS, lambda one: one.level) == [
            Gap("L1", 1.0, 1.0, 1), Gap("L2", 0.5, 0.0, 1), Gap("L3", 0.25, 0.0, 1),
        ]  # fmt: skip
        assert [gap.difference for gap in gaps(ROWS, lambda one: one.level)] == [0.0, 0.5, 0.25]

    def test_gaps_by_persona_and_applications(self) -> None:
        assert [(gap.key, gap.difference, gap.tasks) for gap in gaps(ROWS, lambda one: one.persona)] == [
            ("Accountant", 0.25, 1), ("Designer", 0.25, 2),
        ]  # fmt: skip
        assert [gap.key for gap in gaps(ROWS, lambda one: str(one.apps))] == ["1", "2", "3"]

    def test_gaps_use_only_tasks_with_both_measures(self) -> None:
        (gap,) = gaps([row("a", "L1", 1.0, None), row("b", "L1", 0.5, 0.0)], lambda one: one.level)
        assert gap == Gap("L1", 0.5, 0.0, 1)

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1), st.sampled_from([0.0, 1.0])), max_size=20))
    def test_a_difference_lies_between_minus_one_and_one(self, values: list[tuple[str, float, float]]) -> None:
        rows = [row(task, "L1", s_int, s_final) for task, s_int, s_final in values]
        assert all(-1.0 <= gap.difference <= 1.0 for gap in gaps(rows, lambda one: one.level))


class TestSteps:
    def test_gap_is_failed_minus_solved(self) -> None:
        rows = [row("a", "L1", 1, 1.0, steps=4), row("b", "L1", 0, 0.0, steps=14), row("c", "L1", 0, 0.0, steps=16)]
        (gap,) = step_gaps(rows)
        assert (gap.solved, gap.failed, gap.difference, gap.episodes) == (4.0, 15.0, 11.0, 3)

    def test_without_a_solved_episode_there_is_no_gap(self) -> None:
        assert [gap.difference for gap in step_gaps(ROWS)] == [None] * 4


class TestLanguages:
    def test_gaps_use_common_tasks(self) -> None:
        """Task b was done in English only; of task a Chinese lost half of the checkpoints and the end."""
        en = [row("a", "L1", 1.0, 1.0), row("b", "L1", 0.0, 0.0)]
        (gap,) = language_gaps(en, [row("a", "L1", 0.5, 0.0)])
        assert (gap.en, gap.cn, gap.tasks, gap.differences) == ((1.0, 1.0), (0.5, 0.0), 1, (-0.5, -1.0))

    def test_a_measure_only_over_tasks_that_have_it_in_both(self) -> None:
        en = [row("a", "L1", 1.0, 1.0), row("b", "L1", 0.0, 0.0)]
        (gap,) = language_gaps(en, [row("a", "L1", 1.0, None), row("b", "L1", 0.0, 0.0)])
        assert gap.differences == (0.0, 0.0)

    def test_l4_has_an_end_only(self) -> None:
        (gap,) = language_gaps([row("a", "L4", None, 1.0)], [row("a", "L4", None, 0.0)])
        assert gap.differences == (None, -1.0)

    def test_no_gap_without_a_common_task(self) -> None:
        assert language_gaps(ROWS[:1], ROWS[1:]) == []
