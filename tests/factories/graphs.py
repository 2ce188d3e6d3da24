"""Graphs of subtasks for tests of their figures."""

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import strategies as st

from backend.domain.statistics.graphs import Before

BRANCHED: Before = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c"), "e": ("c",)}
APPS = "xyz"


@st.composite
def dags(draw: st.DrawFn, most: int = 12) -> Before:
    """Any graph without a circle of 1 to `most` nodes."""
    names = [chr(ord("a") + number) for number in range(draw(st.integers(1, most)))]
    return {name: tuple(name for name in names[:place] if draw(st.booleans())) for place, name in enumerate(names)}


@st.composite
def dags_with_apps(draw: st.DrawFn, most: int = 8) -> tuple[Before, dict[str, str]]:
    """The same, with an application for each node."""
    before = draw(dags(most))
    return before, {name: draw(st.sampled_from(APPS)) for name in before}


def every_dag(size: int) -> Iterator[Before]:
    """All graphs on `size` nodes whose order of names is one of theirs."""
    names = [chr(ord("a") + number) for number in range(size)]
    pairs = [(name, other) for place, other in enumerate(names) for name in names[:place]]
    for chosen in product((False, True), repeat=len(pairs)):
        there = {pair for pair, taken in zip(pairs, chosen, strict=True) if taken}
        yield {name: tuple(item for item, other in sorted(there) if other == name) for name in names}


def orders(before: Before, done: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All orders of a graph, one by one: as dear as it is simple."""
    if len(done) == len(before):
        yield done
    for node, needed in before.items():
        if node not in done and set(needed) <= set(done):
            yield from orders(before, (*done, node))


def sharings(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every way in which nodes can share applications: the partitions of a set, the applications named in order."""
    if not names:
        yield {}
        return
    for sharing in sharings(names[:-1]):
        known = sorted(set(sharing.values()))
        for app in (*known, f"app{len(known)}"):
            yield {**sharing, names[-1]: app}
