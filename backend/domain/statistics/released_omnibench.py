"""Completion and coherence as OmniBench's released code computes them, which is not what its paper says.

`strict_upstream` uses them in place of CR and LC. Read in the authors' repository (`TaskDAG.py`, `evaluator.py`); the
code is not copied. Its enumeration of all orders is replaced by a search that has the same result.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from backend.domain.model.task import check_order
from backend.domain.statistics.graphs import Before, depths, width


def released_completion(before: Before, reached: Collection[str]) -> float:
    """Levels completed / depth of the graph, in [0, 1].

    Levels are counted up to the first one above the deepest that has an open node. The deepest level is never checked,
    which makes a graph of depth 1 always complete.
    """
    by_node = depths(before)
    deepest = max(by_node.values())
    opened = [depth for node, depth in by_node.items() if depth < deepest and node not in reached]
    return (min(opened) - 1 if opened else deepest) / deepest


def released_coherence(before: Before, apps: Mapping[str, str], order: Sequence[str]) -> float:
    """(longest run of one application - 1) / (the longest that any order of the graph has - 1), in [0, 1].

    Args:
        before: the graph.
        apps: application of each node.
        order: the nodes that the agent reached, in that order.

    Returns:
        0 where no order has two nodes of one application side by side; the paper's LC is undefined there.
    """
    longest = longest_run(before, apps)
    if longest < 2:  # noqa: PLR2004 - a run of one node is none
        return 0.0
    runs = [len(list(run)) for _, run in groupby(apps[node] for node in order)]
    return (max(runs, default=1) - 1) / (longest - 1)


def longest_run(before: Before, apps: Mapping[str, str]) -> int:
    """The longest run of one application in any order of the graph.

    Nodes of one application can stand side by side unless a node of another one comes after one of them and before
    another. Being so separated is itself an order of these nodes, whose width is therefore what is sought.
    """
    earlier: dict[str, set[str]] = {}
    for node in check_order(before):
        earlier[node] = {*before[node], *(far for predecessor in before[node] for far in earlier[predecessor])}

    def separated(first: str, second: str) -> bool:
        return any(first in earlier[between] and apps[between] != apps[first] for between in earlier[second])

    lengths = []
    for app in set(apps.values()):
        nodes = [node for node in before if apps[node] == app]
        lengths.append(
            width({node: [candidate for candidate in nodes if separated(candidate, node)] for node in nodes})
        )
    return max(lengths, default=0)
