from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.statistics.alignment import (
    GAP,
    KIND,
    OTHER_SCREEN,
    PICTURE,
    TARGET,
    AlignedStep,
    align,
    divergence,
    step_costs,
)

STEPS = st.lists(
    st.builds(
        AlignedStep,
        st.sampled_from(["click", "type", "wait"]),
        st.one_of(st.none(), st.sampled_from(["a", "b"]), st.tuples(st.floats(0, 1), st.floats(0, 1))),
        st.one_of(st.none(), st.integers(0, 2**64 - 1)),
    ),
    max_size=7,
)
OPEN = AlignedStep("click", (0.1, 0.1), 0)
WRITE = AlignedStep("type", "report", 0xFF)
SAVE = AlignedStep("hotkey", "ctrl+s", 0xFFFF)


def places(first: list[AlignedStep], second: list[AlignedStep]) -> list[tuple[int | None, int | None]]:
    return [(pair.first, pair.second) for pair in align(first, second)]


class TestStepCosts:
    @pytest.mark.parametrize(
        ("other", "cost"),
        [
            (OPEN, 0.0),
            (OPEN._replace(kind="double_click"), KIND),
            (OPEN._replace(target=(0.1, 0.15)), TARGET / 2),
            (OPEN._replace(target=(0.9, 0.9)), TARGET),
            (OPEN._replace(target="File"), TARGET),
            (OPEN._replace(target=None), TARGET),
            (OPEN._replace(picture=2 ** (OTHER_SCREEN // 2) - 1), PICTURE / 2),
            (OPEN._replace(picture=2**64 - 1), PICTURE),
            (OPEN._replace(picture=None), 0.0),
            (AlignedStep("wait", None, 2**64 - 1), KIND + TARGET + PICTURE),
        ],
    )
    def test_cost_adds_up_differences(self, other: AlignedStep, cost: float) -> None:
        assert step_costs([OPEN], [other])[0, 0] == pytest.approx(cost)
        assert step_costs([other], [OPEN])[0, 0] == pytest.approx(cost)


class TestAlign:
    def test_a_step_more_is_a_gap(self) -> None:
        pairs = align([OPEN, WRITE, SAVE], [OPEN, AlignedStep("wait", None, 2**64 - 1), WRITE, SAVE])
        assert [(pair.first, pair.second) for pair in pairs] == [(0, 0), (None, 1), (1, 2), (2, 3)]
        assert divergence(pairs) == 1

    def test_ties_prefer_the_earliest_pairs(self) -> None:
        assert places([OPEN], [OPEN, OPEN]) == [(0, 0), (None, 1)]
        assert places([OPEN, OPEN, SAVE], [OPEN, SAVE]) == [(0, 0), (1, None), (2, 1)]
        assert places([OPEN], [WRITE._replace(picture=2**64 - 1)]) == [(0, 0)]

    def test_equal_episodes_do_not_diverge(self) -> None:
        pairs = align([OPEN, WRITE, SAVE], [OPEN, WRITE, SAVE])
        assert [pair.cost for pair in pairs] == [0.0] * 3
        assert divergence(pairs) is None

    def test_empty_sequences_align(self) -> None:
        assert align([], []) == []
        assert places([OPEN], []) == [(0, None)]
        assert places([], [OPEN]) == [(None, 0)]

    @settings(max_examples=60, deadline=None)
    @given(STEPS, STEPS)
    def test_no_alignment_is_cheaper(self, first: list[AlignedStep], second: list[AlignedStep]) -> None:
        costs = step_costs(first, second)

        @cache
        def cheapest(row: int, column: int) -> float:
            if not (row and column):
                return GAP * (row + column)
            both = cheapest(row - 1, column - 1) + costs[row - 1, column - 1]
            return float(min(both, cheapest(row - 1, column) + GAP, cheapest(row, column - 1) + GAP))

        pairs = align(first, second)
        assert sum(pair.cost for pair in pairs) == pytest.approx(cheapest(len(first), len(second)))
        assert [pair.first for pair in pairs if pair.first is not None] == list(range(len(first)))
        assert [pair.second for pair in pairs if pair.second is not None] == list(range(len(second)))
