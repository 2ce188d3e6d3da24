"""Five complexities of a graph, and the ten capabilities that it serves. Source: OmniBench, tables 2 and 12."""

from collections.abc import Mapping

from backend.domain.model.task import Difficulty, Frozen
from backend.domain.omnibench.categories import categories_of
from backend.domain.statistics.graphs import Before, depth_and_width, edges

BOUNDS: Mapping[str, tuple[int, int]] = {
    "dependency": (1, 3),
    "instruction": (2, 4),
    "knowledge": (1, 3),
    "hierarchy": (2, 4),
    "branch": (2, 4),
}
"""The largest count that is still easy, and still medium: of edges, nodes, categories, depth and width."""
CAPABILITIES: Mapping[str, frozenset[str]] = {
    "PP": frozenset({"dependency", "branch"}),
    "LRP": frozenset({"dependency", "hierarchy"}),
    "LSR": frozenset({"instruction", "hierarchy"}),
    "LIF": frozenset({"branch"}),
    "SDK": frozenset({"hierarchy", "branch"}),
    "CDDK": frozenset({"branch", "knowledge"}),
    "SI": frozenset({"dependency", "instruction"}),
    "DI": frozenset({"dependency"}),
    "CDK": frozenset({"instruction", "knowledge"}),
    "DSK": frozenset({"instruction"}),
}
"""By the paper's letters: the complexities that are hard in a task which tests the capability; the others are free."""


class Complexity(Frozen):
    """A graph's counts in the five dimensions."""

    dependency: int
    instruction: int
    knowledge: int
    hierarchy: int
    branch: int

    def level(self, dimension: str) -> Difficulty:
        """Easy, medium or hard in one of the dimensions of `BOUNDS`."""
        easy, medium = BOUNDS[dimension]
        count: int = getattr(self, dimension)
        if count <= easy:
            return Difficulty.EASY
        return Difficulty.MEDIUM if count <= medium else Difficulty.HARD

    def levels(self) -> dict[str, str]:
        """All five."""
        return {dimension: self.level(dimension).value for dimension in BOUNDS}

    def capabilities(self) -> tuple[str, ...]:
        """Capabilities that the graph tests, in the paper's letters and order."""
        hard = {dimension for dimension in BOUNDS if self.level(dimension) is Difficulty.HARD}
        return tuple(name for name, needed in CAPABILITIES.items() if needed <= hard)


def complexity(before: Before, apps: Mapping[str, str]) -> Complexity:
    """Counts edges, nodes, categories of applications, depth and width.

    Args:
        before: for each node, those directly before it.
        apps: application of each node.
    """
    depth, width = depth_and_width(before)
    return Complexity(
        dependency=edges(before),
        instruction=len(before),
        knowledge=len(categories_of(apps.values())),
        hierarchy=depth,
        branch=width,
    )
