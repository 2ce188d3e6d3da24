"""The search for the longest run against an enumeration of all orders, which is what the released code does."""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import pytest

from backend.domain.statistics.released_omnibench import longest_run, released_coherence, released_completion


def orders(before: Mapping[str, Sequence[str]], done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if len(done) == len(before):
        yield done
    for node, earlier in before.items():
        if node not in done and set(earlier) <= set(done):
            yield from orders(before, (*done, node))


@pytest.mark.parametrize("seed", range(40))
def test_the_longest_run_of_any_order(seed: int) -> None:
    dice = random.Random(seed)
    names = [f"n{number}" for number in range(dice.randint(1, 7))]
    before = {name: [one for one in names[:at] if dice.random() < 0.35] for at, name in enumerate(names)}
    apps = {name: dice.choice("xyz") for name in names}
    runs = [len(list(run)) for order in orders(before) for _, run in groupby(apps[node] for node in order)]
    assert longest_run(before, apps) == max(runs)


def test_a_flat_graph_is_always_complete() -> None:
    assert released_completion({"a": [], "b": []}, []) == 1.0


def test_chain_without_coherence_is_zero() -> None:
    assert released_coherence({"a": [], "b": ["a"]}, {"a": "x", "b": "y"}, ["a", "b"]) == 0.0
