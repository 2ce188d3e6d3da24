"""Logical consistency (LC): does an agent finish with one application before it turns to the next?

Source: OmniBench, section 4.1; protocols reference, section 6. The coherence of an order (CS) is its number of
adjacent pairs of the same application. LC = CS of the order in which the agent reached the nodes / the largest CS of
any order of the whole graph.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

from backend.domain.model.task import check_order
from backend.domain.statistics.graphs import Before

MOST_STATES = 20_000
"""Maximum sets of nodes in the search for the best order."""


def coherence(apps: Sequence[str]) -> int:
    """CS of an order, from the application of each node."""
    return sum(first == second for first, second in pairwise(apps))


def best_order(before: Before, apps: Mapping[str, str], *, most_states: int = MOST_STATES) -> tuple[str, ...] | None:
    """An order of the whole graph with the largest CS.

    An order is a row of blocks of one application each, and CS = nodes - blocks, so the fewest blocks are looked for.
    An agent that works in an application loses nothing by doing all that can be done there before turning to another:
    moved to the front, such a node makes a pair there, and at its old place at most one is lost. So a state of the
    search is the set of nodes that are done, the application last used has nothing left to do, and its successors are
    one per other application. A state within another of as many blocks is never better and is dropped. That leaves far
    fewer states than (set of done nodes x last application); the problem stays exponential in the worst case.

    Args:
        before: the graph.
        apps: application of each node.
        most_states: maximum states of the search.

    Returns:
        None if it gave up: the largest CS of this graph is not known, and so LC is not.

    Raises:
        ValueError: the graph has a circle.
    """
    order = check_order(before)
    bit = {node: 1 << position for position, node in enumerate(order)}
    needs = {node: sum(bit[predecessor] for predecessor in set(before[node])) for node in order}
    everything, looked = (1 << len(order)) - 1, 0
    level: dict[int, tuple[str, ...]] = {0: ()}
    while everything not in level:
        following: dict[int, tuple[str, ...]] = {}
        for state_mask, way in level.items():
            for app in _open_apps(order, bit, needs, apps, state_mask):
                state, block = _work(order, bit, needs, apps, state_mask, app)
                following.setdefault(state, way + block)
                if looked + len(following) > most_states:
                    return None
        looked += len(following)
        level = _largest(following)
    return level[everything]


def agent_coherence(groups: Sequence[Sequence[str]]) -> int:
    """CS of what an agent did, by the applications of the nodes that it reached.

    Args:
        groups: for each step after which something was newly reached, the applications of those nodes. Nobody knows in
            which order those of one step were done: the order that is best for the agent counts.
    """
    ends: dict[str | None, int] = {}  # best CS so far by the application that comes last
    for group in groups:
        apps = set(group)
        inner = len(group) - len(apps)
        ends = {
            last: max(
                inner + max(value + (known == first) for known, value in (ends or {None: 0}).items())
                for first in apps
                if first != last or len(apps) == 1
            )
            for last in apps
        } or ends
    return max(ends.values(), default=0)


def consistency(
    before: Before, apps: Mapping[str, str], steps: Mapping[str, int], *, most_states: int = MOST_STATES
) -> float | None:
    """LC, in [0, 1].

    Args:
        before: the graph.
        apps: application of each node.
        steps: the step after which each reached node was reached.
        most_states: as for `best_order`.

    Returns:
        None where it is undefined: no order of the graph has two nodes of one application side by side, or the search
        for the best one gave up.
    """
    order = best_order(before, apps, most_states=most_states)
    most = 0 if order is None else coherence([apps[node] for node in order])
    if most == 0:
        return None
    moments = sorted(set(steps.values()))
    return agent_coherence([[apps[node] for node, at in steps.items() if at == step] for step in moments]) / most


def _open_apps(
    order: Sequence[str], bit: Mapping[str, int], needs: Mapping[str, int], apps: Mapping[str, str], done_mask: int
) -> list[str]:
    """Applications in which something can be done now."""
    return list(
        dict.fromkeys(
            apps[node] for node in order if not done_mask & bit[node] and needs[node] & done_mask == needs[node]
        )
    )


def _work(  # noqa: PLR0913, PLR0917 - one step of the search
    order: Sequence[str],
    bit: Mapping[str, int],
    needs: Mapping[str, int],
    apps: Mapping[str, str],
    done_mask: int,
    app: str,
) -> tuple[int, tuple[str, ...]]:
    """Does all that can be done in an application. Nodes are in an order of the graph, so one pass finds all."""
    block = []
    for node in order:
        if apps[node] == app and not done_mask & bit[node] and needs[node] & done_mask == needs[node]:
            done_mask |= bit[node]
            block.append(node)
    return done_mask, tuple(block)


def _largest(states: Mapping[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Sets that are not contained in another one."""
    largest: list[int] = []
    for _, alike in groupby(sorted(states, key=int.bit_count, reverse=True), key=int.bit_count):
        # Different sets of equal size do not contain each other.
        largest += [state for state in alike if not any(state & other == state for other in largest)]
    return {state: states[state] for state in largest}
