"""Shape of a graph of subtasks, and its completion.

Source: OmniBench, section 4.1; protocols reference, section 6. A graph is a mapping: for each node, the nodes that come
directly before it.
"""

from collections.abc import Collection, Mapping, Sequence

from backend.domain.model.task import check_order

Before = Mapping[str, Sequence[str]]


def depths(before: Before) -> dict[str, int]:
    """Depth of each node: 1 for a source, else 1 + the largest depth among its predecessors.

    Raises:
        ValueError: a name is unknown, or there is a circle.
    """
    depths: dict[str, int] = {}
    for node in check_order(before):
        depths[node] = 1 + max((depths[predecessor] for predecessor in before[node]), default=0)
    return depths


def width(before: Before) -> int:
    """Size of the largest set of nodes of which none comes before another: what could be done side by side.

    By Dilworth's theorem it is the number of nodes less the largest matching between nodes and those that come anywhere
    after them. The papers do not say what they call the width of a branch; this is our choice.
    """
    return _width(_ancestors(before, check_order(before)))


def depth_and_width(before: Before) -> tuple[int, int]:
    """The largest depth and the width of a graph that is not empty, for less than asking for both."""
    by_node = depths(before)
    return max(by_node.values()), _width(_ancestors(before, list(by_node)))


def _width(ancestors: Mapping[str, Sequence[str]]) -> int:
    """Nodes less the largest matching between nodes and their ancestors."""
    matched: dict[str, str] = {}

    def augment(node: str, visited: set[str]) -> bool:
        for ancestor in ancestors[node]:
            if ancestor not in visited:
                visited.add(ancestor)
                if ancestor not in matched or augment(matched[ancestor], visited):
                    matched[ancestor] = node
                    return True
        return False

    return len(ancestors) - sum(augment(node, set()) for node in ancestors)


def edges(before: Before) -> int:
    """Number of direct dependencies."""
    return sum(len(set(predecessors)) for predecessors in before.values())


def completion(before: Before, reached: Collection[str]) -> float:
    """CR: the sum of depth over the nodes that were reached, by the sum of depth over all of them; in [0, 1].

    Raises:
        ValueError: there are no nodes.
    """
    if not before:
        raise ValueError("a graph without nodes has no completion")
    by_node = depths(before)
    return sum(depth for node, depth in by_node.items() if node in reached) / sum(by_node.values())


def _ancestors(before: Before, order: Sequence[str]) -> dict[str, list[str]]:
    """All nodes that come anywhere before each."""
    ancestors: dict[str, dict[str, None]] = {}
    for node in order:
        ancestors[node] = {far: None for predecessor in before[node] for far in (*ancestors[predecessor], predecessor)}
    return {node: list(far) for node, far in ancestors.items()}
