from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.intervals import Interval
from backend.domain.statistics.ranks import standings


@st.composite
def boards(draw: st.DrawFn) -> list[tuple[float, Interval]]:
    made = []
    for _ in range(draw(st.integers(0, 12))):
        low, value, high = sorted(draw(st.floats(0, 1)) for _ in range(3))
        made.append((value, Interval(low, high)))
    return made


class TestStandings:
    def test_separate_intervals_have_separate_ranks(self) -> None:
        result = standings([(0.5, Interval(0.4, 0.6)), (0.9, Interval(0.8, 1.0)), (0.1, Interval(0.0, 0.2))])
        assert [(s.rank, s.group, s.best, s.worst) for s in result] == [(2, 2, 2, 2), (1, 1, 1, 1), (3, 3, 3, 3)]

    def test_overlap_with_the_leader_is_a_tie(self) -> None:
        result = standings([(0.5, Interval(0.3, 0.7)), (0.6, Interval(0.4, 0.8)), (0.35, Interval(0.3, 0.39))])
        assert [(s.rank, s.group) for s in result] == [(2, 1), (1, 1), (3, 2)]
        assert [(s.best, s.worst) for s in result] == [(1, 3), (1, 2), (2, 3)]

    def test_intervals_that_touch_are_a_tie(self) -> None:
        result = standings([(0.55, Interval(0.5, 0.6)), (0.45, Interval(0.4, 0.5))])
        assert [(s.rank, s.group, s.best, s.worst) for s in result] == [(1, 1, 1, 2), (2, 1, 1, 2)]

    def test_equal_estimates_share_a_rank(self) -> None:
        result = standings([(0.5, Interval(0.5, 0.5))] * 2 + [(0.1, Interval(0.1, 0.1))])
        assert [s.rank for s in result] == [1, 1, 3]

    def test_equal_means_that_were_rounded_apart_share_a_rank_and_a_group(self) -> None:
        result = standings([(0.1 + 0.2, Interval(0.3, 0.6)), (0.3, Interval(0.2, 0.1 + 0.2))])
        assert [(s.rank, s.group, s.best, s.worst) for s in result] == [(1, 1, 1, 2)] * 2

    def test_empty_board_has_no_standings(self) -> None:
        assert standings([]) == []

    @given(boards())
    def test_a_rank_lies_within_its_own_bounds(self, board: list[tuple[float, Interval]]) -> None:
        for standing in standings(board):
            assert 1 <= standing.best <= standing.rank <= standing.worst <= len(board)

    @given(boards())
    def test_groups_follow_the_ranks(self, board: list[tuple[float, Interval]]) -> None:
        result = sorted(standings(board), key=lambda standing: standing.rank)
        groups = [standing.group for standing in result]
        assert groups == sorted(groups)
        assert set(groups) == set(range(1, len(set(groups)) + 1))
