from hypothesis import given
from hypothesis import strategies as st

from backend.domain.statistics.pareto import pareto_front

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


class TestParetoFront:
    def test_pareto_front_equals_the_worked_example(self) -> None:
        points = [(3.0, 0.5), (1.0, 0.2), (2.0, 0.6), (2.0, 0.6), (5.0, 0.9), (1.0, 0.1), (6.0, 0.9)]
        assert pareto_front(points) == [1, 2, 3, 4]

    def test_no_points_have_no_front(self) -> None:
        assert pareto_front([]) == []

    @given(POINTS)
    def test_front_has_only_undominated_points(self, points: list[tuple[int, int]]) -> None:
        def dominated(at: int) -> bool:
            cost, score = points[at]
            return any(c <= cost and s >= score and (c, s) != (cost, score) for c, s in points)

        assert sorted(pareto_front(points)) == [at for at in range(len(points)) if not dominated(at)]
