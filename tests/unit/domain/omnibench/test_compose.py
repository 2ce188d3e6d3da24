from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty
from backend.domain.omnibench.complexity import BOUNDS, CAPABILITIES
from backend.domain.omnibench.compose import GraphComposition, GraphSpec, compose, for_capability
from backend.domain.omnibench.subtask import SubtaskResource
from backend.domain.omnibench.task_file import Pool
from tests.error_codes import raises_code
from tests.factories.omnibench import small_pool, subtask, wide_pool

WIDE = wide_pool(2)


def some(number: int, *wanted: GraphSpec, seed: int = 1, pool: Pool = WIDE) -> list[GraphComposition]:
    return list(islice(compose(pool, wanted or [GraphSpec()], seed=seed), number))


def things(
    made: GraphComposition, pool: Pool = WIDE
) -> tuple[dict[str, list[SubtaskResource]], dict[str, list[SubtaskResource]]]:
    """Products and needs of each node."""
    nodes = made.graph.nodes
    makes = {node.name: list(pool[node.subtask].makes(node.values)) for node in nodes}
    return makes, {node.name: list(pool[node.subtask].needs(node.values)) for node in nodes}


class TestCompose:
    @pytest.mark.parametrize("letters", CAPABILITIES)
    def test_a_capability_is_hard_where_it_must_be(self, letters: str) -> None:
        assert all(letters in made.complexity.capabilities() for made in some(5, for_capability(letters)))

    @pytest.mark.parametrize("dimension", BOUNDS)
    @pytest.mark.parametrize("level", Difficulty)
    def test_any_level_of_any_complexity(self, dimension: str, level: Difficulty) -> None:
        for made in some(3, GraphSpec(levels={dimension: level})):
            assert made.complexity.level(dimension) is level

    @settings(max_examples=20)
    @given(st.integers(0, 10**6))
    def test_edges_are_exactly_where_one_serves_another(self, seed: int) -> None:
        for made in some(2, seed=seed):
            makes, needs = things(made)
            for name, before in made.graph.after.items():
                serving = {
                    one
                    for one in makes
                    if one != name and any(thing.serves(need) for thing in makes[one] for need in needs[name])
                }
                assert serving == set(before)

    @settings(max_examples=20)
    @given(st.integers(0, 10**6), st.sampled_from(sorted(CAPABILITIES)))
    def test_there_is_always_an_order_and_no_thing_is_made_twice(self, seed: int, letters: str) -> None:
        for made in some(2, for_capability(letters), seed=seed):
            order = made.graph.order()
            assert sorted(order) == sorted(node.name for node in made.graph.nodes)
            assert all(order.index(one) < order.index(name) for name in order for one in made.graph.after[name])
            makes, _ = things(made)
            every = [(name, thing) for name, result in makes.items() for thing in result]
            assert not any(a.serves(b) for one, a in every for other, b in every if one != other)

    def test_no_two_are_the_same(self) -> None:
        made = some(400, GraphSpec(levels={"instruction": Difficulty.EASY}), for_capability("LIF"))
        assert len({one.graph.canonical() for one in made}) == 400

    def test_they_share_an_intent(self) -> None:
        assert {made.intent for made in some(60)} == {"Report the year", "Show the work"}
        for made in some(60):
            assert all(made.intent in WIDE[node.subtask].intents for node in made.graph.nodes)

    def test_the_same_seed_gives_the_same(self) -> None:
        assert some(10) == some(10)
        assert some(10) != some(10, seed=2)

    def test_a_pool_that_gives_no_more_says_so(self) -> None:
        with raises_code(Invalid, "pool_exhausted"):
            some(10_000, pool=small_pool())
        with raises_code(Invalid, "pool_exhausted", mentions=("PP", "0")):
            some(1, for_capability("PP"), pool=small_pool())

    def test_systems_are_not_mixed(self) -> None:
        pool = {one.id: one for one in (subtask("a"), subtask("b", OS="windows"), subtask("c"))}
        for made in some(4, pool=pool):
            assert len({pool[node.subtask].os for node in made.graph.nodes}) == 1

    def test_cycles_are_never_composed(self) -> None:
        pool = {
            one.id: one
            for one in (
                subtask("a", input_resources=("x",), output_resources=("y",)),
                subtask("b", input_resources=("y",), output_resources=("x",)),
            )
        }
        assert [len(made.graph.nodes) for made in some(2, pool=pool)] == [1, 1]

    def test_a_subtask_may_be_there_twice_with_other_parameters(self) -> None:
        made = next(
            made
            for made in compose(small_pool(), [GraphSpec()], seed=3)
            if {"write.2"} & {n.name for n in made.graph.nodes}
        )
        first, second = (node for node in made.graph.nodes if node.subtask == "write")
        assert first.values != second.values


class TestHeldDown:
    """A task tests one capability: the other complexities are at most medium where the pool has such graphs."""

    @pytest.mark.parametrize(
        ("letters", "not_hard"),
        [
            ("PP", {"hierarchy", "knowledge"}),
            ("LIF", {"dependency", "hierarchy", "knowledge"}),
            ("CDK", {"dependency", "hierarchy", "branch"}),
            ("DSK", {"dependency", "hierarchy", "branch", "knowledge"}),
        ],
    )
    def test_dimensions_that_the_capability_does_not_need(self, letters: str, not_hard: set[str]) -> None:
        request = for_capability(letters)
        assert set(request.not_hard) == not_hard
        for composition in some(5, request):
            assert [name for name in not_hard if composition.complexity.level(name) is Difficulty.HARD] == []

    def test_a_set_is_not_another_ones(self) -> None:
        """By the rule alone every one of these qualifies for DSK; none of DSK's qualifies for anything else."""
        assert {one.complexity.capabilities() for one in some(5, for_capability("DSK"))} == {("DSK",)}

    def test_a_depth_of_five_takes_nodes_and_edges(self) -> None:
        assert set(for_capability("LRP").not_hard) == {"branch", "knowledge"}

    def test_a_pool_that_has_no_such_graph_gives_up_as_little_as_it_can(self) -> None:
        """Four edges between four nodes are not in this pool: more nodes are allowed, and nothing else."""
        for composition in some(2, for_capability("DI")):
            hard = {name for name in BOUNDS if composition.complexity.level(name) is Difficulty.HARD}
            assert {"dependency"} < hard <= {"dependency", "instruction", "branch", "hierarchy"}


class TestForCapability:
    def test_unknown_capability_is_invalid(self) -> None:
        with raises_code(Invalid, "unknown_capability", mentions="'XX'"):
            for_capability("XX")
