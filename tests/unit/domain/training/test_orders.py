import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.training._orders import MOST_NODES, number_of


def all_orders(after: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """Every topological order, sorted by the nodes' places, found by trying them all."""
    orders = permutations(after)
    return [order for order in orders if all(order.index(b) < order.index(n) for n in after for b in after[n])]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Up to six nodes, none after a later one, listed in any order."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 6)))]
    edges = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        for place, name in enumerate(names)
    }
    return {name: edges[name] for name in draw(st.permutations(names))}


class TestNumberOf:
    @given(graphs())
    def test_is_the_place_among_all_orders(self, after: dict[str, list[str]]) -> None:
        assert [number_of(order, after) for order in all_orders(after)] == list(range(len(all_orders(after))))

    def test_a_chain_has_one(self) -> None:
        assert number_of(("a", "b"), {"a": (), "b": ("a",)}) == 0

    def test_number_of_an_order_of_two_branches(self) -> None:
        assert number_of(("b", "a"), {"a": (), "b": ()}) == 1

    def test_is_quick_for_the_largest_graph_and_silent_beyond(self) -> None:
        wide: dict[str, list[str]] = {f"n{number:02}": [] for number in range(MOST_NODES)}
        assert number_of(tuple(reversed(wide)), wide) == math.factorial(MOST_NODES) - 1
        assert number_of((*wide, "more"), {**wide, "more": []}) is None

    @pytest.mark.parametrize("order", [("b", "a"), ("a",), ("a", "a"), ("a", "c")])
    def test_invalid_order_is_refused(self, order: tuple[str, ...]) -> None:
        with pytest.raises(ValueError, match=r"once|early"):
            number_of(order, {"a": (), "b": ("a",)})
