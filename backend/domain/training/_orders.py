"""Which of a graph's topological orders an order is."""

from collections.abc import Mapping, Sequence
from functools import cache

MOST_NODES = 15
"""Larger graphs have no numbers: the memory needed may double with each node."""


def number_of(order: Sequence[str], after: Mapping[str, Sequence[str]]) -> int | None:
    """The place of an order among all topological orders, from 0; None for a graph of more than `MOST_NODES` nodes.

    Orders are sorted as words are, by the nodes' places in `after`: the first always continues with the earliest
    possible node. Computed by counting the orders with the same prefix that continue with an earlier node; how many
    orders a set of nodes can still have is remembered by set.

    Args:
        order: all nodes, each after those that it comes after.
        after: for each node, the nodes that come before it.

    Raises:
        ValueError: it is not a topological order of this graph.
    """
    names = list(after)
    if sorted(order) != sorted(names):
        raise ValueError("the order does not name each node once")
    if len(names) > MOST_NODES:
        return None
    bit = {name: 1 << position for position, name in enumerate(names)}
    needs = [sum(bit[predecessor] for predecessor in set(after[name])) for name in names]

    @cache
    def ways(done_mask: int) -> int:
        nexts = [index for index in range(len(names)) if _may_come(index, done_mask, needs)]
        return sum(ways(done_mask | 1 << index) for index in nexts) if nexts else 1

    number = done_mask = 0
    for name in order:
        index = names.index(name)
        if not _may_come(index, done_mask, needs):
            raise ValueError(f"{name!r} comes too early")
        number += sum(
            ways(done_mask | 1 << position) for position in range(index) if _may_come(position, done_mask, needs)
        )
        done_mask |= bit[name]
    return number


def _may_come(index: int, done_mask: int, needs: Sequence[int]) -> bool:
    return not done_mask >> index & 1 and needs[index] & ~done_mask == 0
