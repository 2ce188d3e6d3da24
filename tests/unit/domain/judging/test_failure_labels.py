from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.judging.failure_labels import (
    KEYS,
    LABELS,
    StepFacts,
    draw_sample,
    label,
    majority_labels,
    shares,
    suggestions,
)

CLICK: dict[str, Any] = {"type": "CLICK", "x": 3, "y": 4}
WAIT: dict[str, Any] = {"type": "WAIT"}


def found(*steps: StepFacts, ended_by: str = "steps", feasible: bool = True) -> dict[str, int | None]:
    return {one.label: one.step for one in suggestions(ended_by, feasible=feasible, steps=steps)}


class TestLabels:
    def test_every_label_of_the_papers_is_there(self) -> None:
        names = {
            paper: {one.papers[paper] for one in LABELS if paper in one.papers} for paper in ("OmniBench", "OSWorld")
        }
        assert names["OmniBench"] == {
            "instruction understanding",
            "lack of knowledge",
            "environment error",
            "grounding",
            "hallucinatory success",
        }
        assert len(names["OSWorld"]) == 5
        assert sum("ProSoftArena" in one.papers for one in LABELS) == 6

    def test_keys_are_unique(self) -> None:
        assert len(KEYS) == len(LABELS)
        assert label("grounding").title == "Grounding error"
        with pytest.raises(KeyError):
            label("laziness")


class TestSuggestions:
    def test_the_same_action_on_an_unchanged_screen(self) -> None:
        steps = [
            StepFacts(0, [CLICK], "a"),
            StepFacts(1, [CLICK], "a"),
            StepFacts(2, [{**CLICK, "note": "again"}], "a"),
        ]
        assert found(*steps) == {"repeated": 1}
        (one,) = suggestions("steps", feasible=True, steps=steps)
        assert one.reason == "the same action on an unchanged screen at step 1, 2"

    @pytest.mark.parametrize(
        "second",
        [
            StepFacts(1, [CLICK], "b"),
            StepFacts(1, [{**CLICK, "x": 5}], "a"),
            StepFacts(1, [], "a"),
            StepFacts(1, [CLICK], None),
        ],
    )
    def test_another_screen_or_action_is_not_a_repetition(self, second: StepFacts) -> None:
        assert found(StepFacts(0, [CLICK], "a" if second.screen else None), second) == {}

    def test_waiting_twice_is_not_a_repetition(self) -> None:
        assert found(StepFacts(0, [WAIT], "a"), StepFacts(1, [WAIT], "a")) == {}

    def test_actions_outside_the_space(self) -> None:
        steps = [
            StepFacts(0, [CLICK], "a"),
            StepFacts(1, [], "b", "no such action"),
            StepFacts(2, [], "b", "no such action"),
        ]
        assert found(*steps) == {"invalid": 1}

    def test_a_grounder_that_finds_nothing_is_not_an_invalid_action(self) -> None:
        steps = [StepFacts(0, [CLICK], "a"), StepFacts(1, [], "b", "nowhere", grounder_failed=True)]
        assert found(*steps) == {"grounding": 1}

    def test_done_with_a_score_under_1(self) -> None:
        assert found(StepFacts(0, [CLICK], "a"), StepFacts(1, [{"type": "DONE"}], "b"), ended_by="done") == {
            "hallucinated": 1
        }

    def test_giving_up_and_not_refusing(self) -> None:
        assert found(ended_by="infeasible") == {"gave_up": None}
        assert found(ended_by="infeasible", feasible=False) == {}
        assert found(ended_by="steps", feasible=False) == {"not_refused": None}
        assert found(ended_by="done", feasible=False) == {"hallucinated": None, "not_refused": None}

    def test_stored_actions_of_any_shape_are_looked_at(self) -> None:
        assert found(StepFacts(0, ["CLICK", None], "a"), StepFacts(1, ["CLICK", None], "a")) == {}


class TestSampled:
    @given(st.sets(st.integers()), st.integers(0, 50), st.integers(0, 3))
    def test_is_the_same_whatever_the_order_and_stays_when_one_more_comes(
        self, ids: set[int], number: int, seed: int
    ) -> None:
        drawn = draw_sample(ids, number, seed)
        assert drawn == draw_sample(sorted(ids, reverse=True), number, seed)
        assert len(drawn) == min(number, len(ids))
        more = draw_sample(ids | {max(ids, default=0) + 1}, number, seed)
        assert len(set(drawn) - set(more)) <= 1

    def test_another_seed_draws_others(self) -> None:
        assert draw_sample(range(100), 10, 1) != draw_sample(range(100), 10, 2)


class TestShares:
    def test_several_labels_may_apply_to_one_episode(self) -> None:
        by = {one.label: one for one in shares([{"grounding", "planning"}, {"grounding"}, set(), {"planning"}])}
        assert (by["grounding"].count, by["grounding"].n, by["grounding"].share) == (2, 4, 0.5)
        assert by["grounding"].interval is not None
        assert by["verdict"].share == 0.0

    def test_nothing_looked_at_has_no_share(self) -> None:
        assert {one.share for one in shares([])} == {None}


class TestJoined:
    def test_half_of_the_people_is_enough(self) -> None:
        assert majority_labels([{"planning", "grounding"}, {"grounding"}]) == {"planning", "grounding"}
        assert majority_labels([{"planning"}, {"grounding"}, {"grounding"}]) == {"grounding"}
        assert majority_labels([]) == frozenset()
