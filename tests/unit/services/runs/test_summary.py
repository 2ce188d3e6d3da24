from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils.compat import uuid7

from backend.db.repositories.results.rollups import TaskTotals
from backend.services.runs.summary import EFFECTIVE, WILSON, EpisodeCounts, counts_text, summarise


def totals(**values: Any) -> TaskTotals:
    zero: dict[str, Any] = dict.fromkeys(("scored", "solved", "cancelled", "not_runnable", "waiting", "running"), 0)
    more = {"score_sum": float(values.get("solved", 0)), "score_sq_sum": 0.0, "steps": 0, "lost": {}}
    labels = {"task_id": uuid7(), "domain": "files", "difficulty": None, "level": None, "apps": ()}
    return TaskTotals(**(zero | more | labels | values))


class TestSummarise:
    def test_summary_without_episodes_is_empty(self) -> None:
        found = summarise([])
        assert (found.episodes, found.success_rate, found.mean_score, found.success_interval) == (0, None, None, None)
        assert found.counts_text == "no episodes"

    def test_all_lost_has_no_rate_and_a_lower_bound_of_zero(self) -> None:
        found = summarise([totals(lost={"guest": 1}), totals(lost={"cluster": 1})])
        assert (found.success_rate, found.mean_score) == (None, None)
        assert (found.success_interval, found.mean_interval) == (None, None)
        assert (found.lower_bound_success, found.lower_bound_mean) == (0.0, 0.0)

    def test_lost_episodes_count_only_in_the_lower_bound(self) -> None:
        found = summarise([totals(scored=1, solved=1), totals(scored=1, score_sum=0.5), totals(lost={"guest": 2})])
        assert (found.success_rate, found.mean_score) == (0.5, 0.75)
        assert (found.lower_bound_success, found.lower_bound_mean) == (0.25, 0.375)
        assert found.counts_text == "2 of 4 episodes scored; 2 lost (guest 2)"
        assert (found.tasks, found.scored_tasks, found.solved) == (3, 2, 1)

    def test_the_method_depends_on_repeats(self) -> None:
        assert summarise([totals(scored=1), totals(scored=1, solved=1)]).success_method == WILSON
        assert summarise([totals(scored=2), totals(scored=1, solved=1)]).success_method == EFFECTIVE

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), max_size=20))
    def test_bounds_and_intervals_are_in_order(self, rows: list[tuple[int, int, int]]) -> None:
        found = summarise(
            [totals(scored=s, solved=min(s, k), lost={"guest": lost} if lost else {}) for s, k, lost in rows]
        )
        if found.success_rate is None:
            assert found.success_interval is None
            return
        assert found.lower_bound_success is not None
        assert found.success_interval is not None
        assert 0 <= found.lower_bound_success <= found.success_rate
        assert found.success_interval.low <= found.success_rate <= found.success_interval.high
        assert found.counts.scored + found.counts.lost == found.episodes


class TestDenominatorWords:
    @pytest.mark.parametrize(
        ("counts", "lost", "words"),
        [
            (EpisodeCounts(scored=20), {}, "20 of 20 episodes scored"),
            (
                EpisodeCounts(scored=12, lost=3, not_runnable=5),
                {"cluster": 1, "guest": 2},
                "12 of 20 episodes scored; 3 lost (guest 2, cluster 1), 5 not runnable here",
            ),
            (
                EpisodeCounts(scored=0, cancelled=1, running=2, waiting=3),
                {},
                "0 of 6 episodes scored; 1 cancelled, 2 running, 3 waiting",
            ),
            (EpisodeCounts(scored=1), {}, "1 of 1 episode scored"),
        ],
    )
    def test_says_where_every_episode_is(self, counts: EpisodeCounts, lost: dict[str, int], words: str) -> None:
        total = sum(vars(counts).values())
        assert counts_text(total, counts, lost) == words
