from itertools import combinations

import pytest
from hypothesis import given

from backend.domain.statistics.graphs import Before, completion, depths, edges, width
from tests.factories.graphs import BRANCHED, dags


class TestDepths:
    def test_depths_equal_the_worked_example(self) -> None:
        """a -> b -> d, a -> c -> d, c -> e: two in the second layer, two in the third."""
        assert depths(BRANCHED) == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 3}

    def test_depth_is_the_longest_path(self) -> None:
        assert depths({"a": (), "b": ("a",), "c": ("a", "b")}) == {"a": 1, "b": 2, "c": 3}

    def test_cycle_has_no_depths(self) -> None:
        with pytest.raises(ValueError, match="circle"):
            depths({"a": ("b",), "b": ("a",)})


class TestWidth:
    @pytest.mark.parametrize(
        ("before", "expected"),
        [
            ({"a": (), "b": ("a",), "c": ("b",)}, 1),
            ({"a": (), "b": (), "c": ()}, 3),
            (BRANCHED, 2),
            ({"a": (), "b": ("a",), "c": ("a",), "d": ("a",), "e": ("b", "c", "d")}, 3),
        ],
    )
    def test_width_equals_the_worked_examples(self, before: Before, expected: int) -> None:
        assert width(before) == expected

    @given(dags(most=8))
    def test_equals_the_largest_set_without_an_order(self, before: Before) -> None:
        above = _ancestors(before)
        largest = max(
            size
            for size in range(1, len(before) + 1)
            for some in combinations(before, size)
            if not any(one in above[other] for one in some for other in some)
        )
        assert width(before) == largest


class TestEdges:
    def test_each_edge_counts_once(self) -> None:
        assert edges({"a": (), "b": ("a", "a"), "c": ("a", "b")}) == 3


class TestCompletion:
    def test_completion_equals_the_worked_example(self) -> None:
        """Depths 1, 2, 2, 3, 3: after a and b (1 + 2) of 11."""
        assert completion(BRANCHED, ["a", "b"]) == pytest.approx(3 / 11)

    def test_empty_completion_is_zero(self) -> None:
        assert completion(BRANCHED, []) == 0.0
        with pytest.raises(ValueError, match="no completion"):
            completion({}, [])

    @given(dags())
    def test_finished_graph_is_one(self, before: Before) -> None:
        assert completion(before, list(before)) == 1.0

    @given(dags())
    def test_grows_with_each_node(self, before: Before) -> None:
        shares = [completion(before, list(before)[:number]) for number in range(len(before) + 1)]
        assert shares == sorted(set(shares))


def _ancestors(before: Before) -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for node in depths(before):
        result[node] = {far for one in before[node] for far in (one, *result[one])}
    return result
