from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.statistics.coherence import agent_coherence, best_order, coherence, consistency
from backend.domain.statistics.graphs import Before
from tests.factories.graphs import APPS, BRANCHED, dags_with_apps, every_dag, orders, sharings
from tests.sampling import sample

BRANCHED_APPS = {"a": "x", "b": "x", "c": "y", "d": "x", "e": "y"}


def cs(before: Before, apps: dict[str, str]) -> int:
    order = best_order(before, apps)
    assert order is not None
    assert sorted(order) == sorted(before)
    assert all(order.index(one) < order.index(node) for node in before for one in before[node])
    return coherence([apps[node] for node in order])


def by_hand(before: Before, apps: dict[str, str]) -> int:
    return max(coherence([apps[node] for node in order]) for order in orders(before))


class TestCoherence:
    @pytest.mark.parametrize(("apps", "pairs"), [("", 0), ("x", 0), ("xx", 1), ("xyx", 0), ("xxyyy", 3)])
    def test_counts_adjacent_pairs(self, apps: str, pairs: int) -> None:
        assert coherence(apps) == pairs


class TestBestOrder:
    def test_branched_graph_has_two_pairs(self) -> None:
        """a b | c e | d: (x x) (y y) (x) has two pairs, and no order has three blocks fewer."""
        assert cs(BRANCHED, BRANCHED_APPS) == 2

    def test_a_chain_has_one_order(self) -> None:
        assert best_order({"a": (), "b": ("a",), "c": ("b",)}, {"a": "x", "b": "y", "c": "x"}) == ("a", "b", "c")

    @pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
    def test_equals_brute_force_on_every_small_graph(self, size: int) -> None:
        """All graphs of up to five nodes, with every way in which they can share applications (of five, a sample)."""
        for before in sample(list(every_dag(size)), 64):
            for apps in sharings(list(before)):
                assert cs(before, apps) == by_hand(before, apps), (before, apps)

    @settings(max_examples=300)
    @given(dags_with_apps(most=8))
    def test_equals_brute_force_up_to_eight_nodes(self, graph: tuple[Before, dict[str, str]]) -> None:
        assert cs(*graph) == by_hand(*graph)

    def test_forty_independent_nodes_are_solved(self) -> None:
        before: Before = {f"n{number}": () for number in range(40)}
        assert cs(before, {node: APPS[number % 3] for number, node in enumerate(before)}) == 37

    def test_gives_up_beyond_its_bound(self) -> None:
        before: Before = {"a": (), "b": (), "c": ("a",), "d": ("b",)}
        assert best_order(before, {"a": "x", "b": "y", "c": "y", "d": "x"}, most_states=2) is None


class TestAgentCoherence:
    @pytest.mark.parametrize(
        ("groups", "pairs"),
        [([], 0), (["x"], 0), (["xy", "x"], 1), (["x", "xyx", "y"], 3), (["xy", "xy"], 1), (["xyz", "z", "y"], 1)],
    )
    def test_agent_coherence_equals_the_worked_examples(self, groups: list[str], pairs: int) -> None:
        assert agent_coherence(groups) == pairs

    @given(st.lists(st.text(APPS, min_size=1, max_size=4), max_size=3))
    def test_equals_the_best_of_all_orders_within_steps(self, groups: list[str]) -> None:
        every = product(*(set(permutations(group)) for group in groups))
        assert agent_coherence(groups) == max(coherence("".join("".join(one) for one in order)) for order in every)


class TestConsistency:
    def test_consistency_equals_the_worked_example(self) -> None:
        """The best order has 2 pairs; a, c, b, e has none (x y x y), a, b, c, d one (x x y x)."""
        assert consistency(BRANCHED, BRANCHED_APPS, {"a": 0, "c": 1, "b": 2, "e": 3}) == 0.0
        assert consistency(BRANCHED, BRANCHED_APPS, {"a": 0, "b": 4, "c": 5, "d": 9}) == 0.5

    def test_nodes_of_one_step_are_in_the_best_order(self) -> None:
        assert consistency(BRANCHED, BRANCHED_APPS, {"a": 0, "b": 1, "c": 1, "d": 2, "e": 2}) == 1.0

    def test_undefined_where_the_search_gave_up(self) -> None:
        before: Before = {"a": (), "b": (), "c": ("a",), "d": ("b",)}
        apps = {"a": "x", "b": "y", "c": "y", "d": "x"}
        steps = {node: step for step, node in enumerate("abcd")}
        assert consistency(before, apps, steps) == 1.0
        assert consistency(before, apps, steps, most_states=2) is None

    def test_undefined_where_no_two_can_be_side_by_side(self) -> None:
        assert consistency({"a": (), "b": ("a",)}, {"a": "x", "b": "y"}, {"a": 0, "b": 1}) is None

    @given(dags_with_apps(), st.data())
    def test_lies_between_zero_and_one(self, graph: tuple[Before, dict[str, str]], data: st.DataObject) -> None:
        """Any legal order of reached nodes, with any number of nodes per step."""
        before, apps = graph
        steps: dict[str, int] = {}
        for step in range(data.draw(st.integers(0, len(before)))):
            ready = [node for node, needed in before.items() if node not in steps and set(needed) <= set(steps)]
            now = data.draw(st.lists(st.sampled_from(ready), unique=True)) if ready else []
            steps |= dict.fromkeys(now, step)
        result = consistency(before, apps, steps)
        assert result is None or 0.0 <= result <= 1.0
